/// The Claris FileMaker Data API: a tree of ``Server``, ``Database`` and ``Layout`` whose methods are publishers, and
/// the requests and responses they speak in.
public enum DataAPI {
    /// The fields of a record without a type of their own.
    public typealias FieldData = FMData.FieldData
    /// The value of one field, when no type says what it should be.
    public typealias FieldValue = FMData.FieldValue
}

/// What belongs to REST rather than to FileMaker: the one error type, the empty answer, the file of an upload.
public enum FMRest {}

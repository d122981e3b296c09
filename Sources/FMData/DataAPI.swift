/// The Claris FileMaker Data API: a tree of ``Server``, ``Database`` and ``Layout`` whose methods are publishers, and
/// the requests and responses they speak in.
public enum DataAPI {}

/// What belongs to REST rather than to FileMaker: the one error type, the empty answer, the file of an upload.
public enum FMRest {}

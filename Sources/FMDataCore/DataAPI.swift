/// The Claris FileMaker Data API: a tree of ``Server``, ``Database`` and ``Layout``, whose methods are publishers, and
/// the types of their requests and responses.
public enum DataAPI {}

/// The types of REST rather than of FileMaker: the error type, the empty answer, the file of an upload.
public enum FMRest {}

/// See ``DataAPI/Credentials``. These type aliases give the most frequent names without their namespace:
/// `Credentials(user:password:)` is `DataAPI.Credentials(user:password:)`.
public typealias Credentials = DataAPI.Credentials
/// See ``DataAPI/FMDataSourceAuth``.
public typealias FMDataSourceAuth = DataAPI.FMDataSourceAuth
/// See ``DataAPI/ScriptQuery``.
public typealias ScriptQuery = DataAPI.ScriptQuery
/// See ``DataAPI/PortalRequest``.
public typealias PortalRequest = DataAPI.PortalRequest
/// See ``DataAPI/SortQuery``.
public typealias SortQuery = DataAPI.SortQuery
/// See ``DataAPI/ReadOptions``.
public typealias ReadOptions = DataAPI.ReadOptions
/// See ``DataAPI/RecordQuery``.
public typealias RecordQuery = DataAPI.RecordQuery
/// See ``DataAPI/FindQuery``.
public typealias FindQuery = DataAPI.FindQuery
/// See ``DataAPI/EditRecord``.
public typealias EditRecord = DataAPI.EditRecord
/// See ``DataAPI/RecordResponse``.
public typealias RecordResponse = DataAPI.RecordResponse
/// See ``DataAPI/EmptyPortal``.
public typealias EmptyPortal = DataAPI.EmptyPortal
/// See ``DataAPI/Find``.
public typealias Find = DataAPI.Find
/// See ``FMRest/ContainerFile``.
public typealias ContainerFile = FMRest.ContainerFile

extension DataAPI {
    /// The fields of a record that has no type of its own.
    public typealias FieldData = FMDataCore.FieldData
    /// The value of one field whose type is not known.
    public typealias FieldValue = FMDataCore.FieldValue
}

/// The names that a program writes most, without their namespace: `Credentials(user:password:)` is
/// `DataAPI.Credentials(user:password:)`.
public typealias Credentials = DataAPI.Credentials
public typealias FMDataSourceAuth = DataAPI.FMDataSourceAuth
public typealias ScriptQuery = DataAPI.ScriptQuery
public typealias PortalRequest = DataAPI.PortalRequest
public typealias SortQuery = DataAPI.SortQuery
public typealias RecordQuery = DataAPI.RecordQuery
public typealias FindQuery = DataAPI.FindQuery
public typealias EditRecord = DataAPI.EditRecord
public typealias RecordResponse = DataAPI.RecordResponse
public typealias EmptyPortal = DataAPI.EmptyPortal
public typealias Find = DataAPI.Find

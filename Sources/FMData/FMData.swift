// FMData is three modules under one name: calls, what takes several calls, and records as they change.

@_exported public import FMDataCore
@_exported public import FMDataLive
@_exported public import FMDataRecords

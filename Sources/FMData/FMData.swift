@_exported public import FMDataCore
@_exported public import FMDataLive
@_exported public import FMDataRecords

/// The Claris FileMaker Data API: a tree of ``Server``, ``Database`` and ``Layout``, whose methods are publishers, and
/// the types of their requests and responses.
public enum DataAPI {}

/// The types of REST rather than of FileMaker: the error type, the empty answer, the file of an upload.
public enum FMRest {}

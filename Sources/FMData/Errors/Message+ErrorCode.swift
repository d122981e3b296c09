extension DataAPI.Message {
    /// The code as a number; `nil` when it is not one.
    public var errorCode: FileMakerErrorCode? { FileMakerErrorCode(wireText: code) }
}

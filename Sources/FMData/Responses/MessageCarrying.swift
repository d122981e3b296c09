extension DataAPI {
    /// A response that keeps what FileMaker said beside it. A success says `"0"` and "OK"; a server or a proxy may say more.
    ///
    /// Every response is one, except for the lists of layouts and scripts and the credentials of a login, which are values of
    /// other kinds.
    public protocol MessageCarrying {
        /// FileMaker's messages, in order; none in a value of your own making and in one that no answer stands behind. Two
        /// responses other than a ``RecordResponse`` are equal whatever their messages.
        var messages: [Message] { get set }
    }
}

extension DataAPI.RecordResponse: DataAPI.MessageCarrying {}
extension DataAPI.CreateResponse: DataAPI.MessageCarrying {}
extension DataAPI.EditRecordResponse: DataAPI.MessageCarrying {}
extension DataAPI.ScriptResponse: DataAPI.MessageCarrying {}
extension DataAPI.UploadResponse: DataAPI.MessageCarrying {}
extension DataAPI.Layout.LayoutMetaData: DataAPI.MessageCarrying {}
extension DataAPI.Database.DatabaseListResponse: DataAPI.MessageCarrying {}
extension DataAPI.Server.ProductInfo: DataAPI.MessageCarrying {}
extension FMRest.EmptyResponse: DataAPI.MessageCarrying {}

extension DataAPI.Server.ProductInfoContainer: DataAPI.MessageCarrying {
    var messages: [DataAPI.Message] {
        get { productInfo.messages }
        set { productInfo.messages = newValue }
    }
}

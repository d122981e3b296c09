extension DataAPI {
    /// A response that keeps FileMaker's messages. Every response does, except for the lists of layouts and scripts and
    /// the credentials of a login, whose values are of other types.
    protocol MessageCarrying {
        var messages: [Message] { get set }
    }
}

extension DataAPI.MessageCarrying {
    /// What a response shows of itself: these properties, and the messages by their public name.
    func mirror(_ properties: KeyValuePairs<String, Any>) -> Mirror {
        let children = properties.map { (label: $0.key, value: $0.value) } + [("messages", messages)]
        return Mirror(self, children: children, displayStyle: .struct)
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

/// The messages of a response, which do not count when two responses are compared: a response made by a test equals one
/// that a server sent.
struct UncomparedMessages: Hashable, Sendable {
    var messages: [DataAPI.Message] = []

    static func == (lhs: UncomparedMessages, rhs: UncomparedMessages) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

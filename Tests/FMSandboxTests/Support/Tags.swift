import Testing

/// Where a demand on the sandbox comes from.
extension Tag {
    /// A rule of the Data API that is backed by a recording, by the tests of a client in use, or by the guide. It holds in
    /// every venue.
    @Tag static var contract: Tag
    /// Sources are silent or disagree: the sandbox does what is safest for a test server, and where one may want another
    /// answer there is a setting.
    @Tag static var openQuestion: Tag
    /// What a real server was recorded to send.
    @Tag static var recorded: Tag
}

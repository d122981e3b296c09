import Testing

/// Where a requirement on the sandbox comes from.
extension Tag {
    /// A rule of the Data API, known from a recording, the tests of an existing client, or the guide. It applies in
    /// every venue.
    @Tag static var contract: Tag
    /// The sources are silent or disagree: the sandbox does what is safest for a test server, and has a setting where
    /// another answer may be wanted.
    @Tag static var openQuestion: Tag
    /// Bytes that a real server was recorded to send.
    @Tag static var recorded: Tag
}

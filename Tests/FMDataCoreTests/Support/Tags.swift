import Testing

/// Where a requirement on the client comes from.
extension Tag {
    /// A fact of the protocol, tested on both sides: the client follows it, and the sandbox refuses clients that do
    /// not.
    @Tag static var fact: Tag
    /// A mistake of an earlier client: of the package that this one replaces, of other Swift clients for FileMaker, or
    /// of one in another language.
    @Tag static var earlierClients: Tag
}

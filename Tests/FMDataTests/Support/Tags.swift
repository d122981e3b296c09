import Testing

/// Where a demand on the client comes from.
extension Tag {
    /// A fact of the protocol, pinned on both sides: the client does right, and the embedded server refuses who does not.
    @Tag static var fact: Tag
    /// What a client before this one got wrong: the one that this package succeeds, those for FileMaker in Swift before it, or
    /// one in another language.
    @Tag static var earlierClients: Tag
}

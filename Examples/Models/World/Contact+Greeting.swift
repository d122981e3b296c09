import FMData

// Additions to a generated type are in a file of their own, which the generator never changes.
extension Contact {
    /// The name to use in a letter: the first nickname, if there is one.
    var greeting: String {
        let nickname = nicknames.first { !$0.isEmpty }
        return "Dear \(nickname ?? name)"
    }
}

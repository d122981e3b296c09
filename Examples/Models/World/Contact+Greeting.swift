import FMData

// What a program adds to a generated type stands beside it, where the generator never comes.
extension Contact {
    /// The name to use in a letter: the first nickname, if there is one.
    var greeting: String {
        let nickname = nicknames.first { !$0.isEmpty }
        return "Dear \(nickname ?? name)"
    }
}

import Foundation

/// The name of a host, as texts may spell it.
struct HostName {
    /// Without a port.
    let name: String

    /// - Parameter authority: a name or an address, with or without a port.
    init(_ authority: some StringProtocol) {
        name =
            authority.hasPrefix("[")
            ? authority.prefix { $0 != "]" } + "]" : String(authority.prefix { $0 != ":" })
    }

    /// - Parameter origin: a scheme and an authority.
    init(origin: String) { self.init(origin.range(of: "://").map { origin[$0.upperBound...] } ?? origin[...]) }

    /// Whether an authority, which may have any port, is this host.
    func isNamed(by authority: some StringProtocol) -> Bool {
        HostName(authority).name.lowercased() == name.lowercased()
    }

    /// The text with something else in place of the name and of its port, where the name is not a part of another one.
    func replaced(by mark: String, in text: String) -> String {
        guard !name.isEmpty else { return text }
        var result = ""
        var rest = text[...]
        while let range = rest.range(of: name, options: .caseInsensitive) {
            result += rest[..<range.lowerBound]
            let after = rest[range.upperBound...]
            // Behind a name, a dot mostly ends a sentence.
            let next = after.first == "." ? after.dropFirst().first : after.first
            if result.last == "." || Self.isWithinName(result.last) || Self.isWithinName(next) {
                result += rest[range]
                rest = after
            } else {
                result += mark
                rest = after.dropFirst(Self.portLength(after))
            }
        }
        return result + rest
    }

    private static func portLength(_ text: Substring) -> Int {
        guard text.first == ":" else { return 0 }
        let digits = text.dropFirst().prefix { $0.isASCII && $0.isNumber }.count
        return (1...5).contains(digits) ? digits + 1 : 0
    }

    private static func isWithinName(_ character: Character?) -> Bool {
        character.map { $0.isLetter || $0.isNumber || $0 == "-" } ?? false
    }
}

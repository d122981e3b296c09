import FMHTTP
import Foundation

/// A file with a password for each host and account, as curl and git read it:
///
///     machine fms.example.com login api password secret
///
/// An entry for all hosts (`default`) is left out: a password goes to no host that it was not given for.
///
/// Source: [netrc](https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html), and
/// [curl](https://everything.curl.dev/usingcurl/netrc.html) for values in quotes.
struct NetrcFile {
    private struct Entry {
        /// The host; nil for all others.
        var machine: String?
        var login: String?
        var password: String?
    }

    private var entries: [Entry] = []

    /// Reads the text of a file. Words that have no meaning are passed over.
    init(_ text: String) {
        var words = NetrcWords(text)
        while let word = words.next() {
            switch word {
            case "machine": entries.append(Entry(machine: words.next()))
            case "default": entries.append(Entry())
            case "login": setLast(\.login, words.next())
            case "password": setLast(\.password, words.next())
            case "account": _ = words.next()
            case "macdef": words.skipMacro()
            default: break
            }
        }
    }

    private mutating func setLast(_ part: WritableKeyPath<Entry, String?>, _ value: String?) {
        if let last = entries.indices.last { entries[last][keyPath: part] = value }
    }

    /// The password of an account on a host; nil if there is none. The first entry counts.
    func password(host: String, user: String) -> String? {
        entries.first { $0.machine?.lowercased() == host.lowercased() && $0.login == user && $0.password != nil }?
            .password
    }
}

extension NetrcFile {
    /// The password of an account in a file; nil if there is no such file or no entry.
    ///
    /// - Parameters:
    ///   - host: as `--host` takes it, with scheme and port.
    ///   - complain: is told why a file is not used.
    static func password(
        host: String?,
        user: String?,
        in file: PrivateFile,
        complain: (String) -> Void
    ) throws -> PasswordSource? {
        guard let host, let user, let name = HostName(host)?.name else { return nil }
        do {
            // Many users keep it elsewhere, behind a link.
            guard let content = try PrivateFile(file.url.resolvingSymlinksInPath()).read() else { return nil }
            return NetrcFile(String(decoding: content, as: UTF8.self)).password(host: name, user: user)
                .map { .known($0, from: file.url.path) }
        } catch is PrivateFile.NotPrivate {
            complain("\(file.url.path) is ignored, since others can read it: chmod 600 it.")
            return nil
        }
    }
}

/// The words of a netrc file: between blanks, or in quotes, with a backslash before what is meant literally.
private struct NetrcWords {
    private var rest: Substring
    /// Whether only blanks precede in the line.
    private var isAtStart = true

    init(_ text: String) { rest = text[...] }

    mutating func next() -> String? {
        while let character = rest.first, character.isWhitespace || character == "#" && isAtStart {
            if character == "#" {
                rest = rest.drop { !$0.isNewline }
            } else {
                if character.isNewline { isAtStart = true }
                rest.removeFirst()
            }
        }
        guard let first = rest.first else { return nil }
        isAtStart = false
        guard first == "\"" else {
            let word = rest.prefix { !$0.isWhitespace }
            rest = rest[word.endIndex...]
            return String(word)
        }
        rest.removeFirst()
        var word = ""
        while let character = rest.popFirst(), character != "\"" {
            guard character == "\\", let escaped = rest.popFirst() else {
                word.append(character)
                continue
            }
            switch escaped {
            case "n": word.append("\n")
            case "r": word.append("\r")
            case "t": word.append("\t")
            default: word.append(escaped)
            }
        }
        return word
    }

    /// A macro ends with an empty line.
    mutating func skipMacro() {
        let lines = rest.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let end = lines.dropFirst().first(where: \.isEmpty)?.startIndex ?? rest.endIndex
        rest = rest[end...]
        isAtStart = true
    }
}

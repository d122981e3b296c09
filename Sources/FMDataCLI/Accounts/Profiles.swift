import FMModel
import FMSandbox
import Foundation

/// A host, a database and an account under a name. It holds no secret, but says where the password comes from.
struct Profile: Equatable, Codable, Sendable {
    /// The host, as `fms.example.com` or `https://fms.example.com:8443`.
    var host: String
    /// The database, without `.fmp12`; nil if each command names one.
    var database: String?
    /// The account; nil if each command names one.
    var user: String?
    /// The path of a file (PEM) with authorities that are trusted as well.
    var ca: String?
    /// The public keys that the host's certificate may have; nil for any.
    var pins: [String]?
    /// The program, and its arguments, that prints the password.
    var passwordCommand: [String]?
    /// The path of a file whose first line is the password.
    var passwordFile: String?
    /// Whether the session is kept for the next command; nil is yes.
    var keepSession: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case host, database, user, ca, pins
        case passwordCommand = "password_command"
        case passwordFile = "password_file"
        case keepSession = "keep_session"
    }
}

/// The profiles of the user, in `config.json`: `{"default": "harbor", "profiles": {"harbor": {"host": …}}}`.
struct Profiles: Equatable, Sendable {
    /// The name of the profile of commands that name none.
    var standard: String?
    var byName: [String: Profile] = [:]

    /// Reads a file; there are no profiles if there is no such file.
    init(contentsOf file: URL) throws {
        self.init()
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        let content = try FileError.telling("read \(file.path)") { try Data(contentsOf: file) }
        do {
            self = try JSONDecoder().decode(Profiles.self, from: content)
        } catch let error as DecodingError {
            throw CommandError("\(file.path): \(error.inWords)")
        }
    }

    init(standard: String? = nil, byName: [String: Profile] = [:]) {
        self.standard = standard
        self.byName = byName
    }

    /// Writes the file.
    func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try PrivateFile(file).write(try encoder.encode(self) + Data("\n".utf8))
    }

    /// The profile with a name.
    func named(_ name: String) throws(CommandError) -> Profile {
        if let profile = byName[name] { return profile }
        let advice =
            if byName.isEmpty {
                "There is none yet: fmdata login makes one."
            } else {
                byName.keys.nearest(to: name).map { "Did you mean \"\($0)\"?" }
                    ?? "There are: \(byName.keys.sorted().joined(separator: ", "))."
            }
        throw CommandError("There is no profile \"\(name)\". \(advice)", .usage)
    }
}

extension Profiles: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case standard = "default"
        case byName = "profiles"
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        standard = try container.decodeIfPresent(String.self, forKey: .standard)
        byName =
            try container.decodeIfPresent([String: StrictProfile].self, forKey: .byName)?.mapValues(\.profile) ?? [:]
    }
}

/// A profile in the file, where an unknown member is a mistake.
private struct StrictProfile: Decodable {
    let profile: Profile

    init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: Profile.CodingKeys.allCases)
        profile = try Profile(from: decoder)
    }
}

extension Decoder {
    /// Throws if the object has a member with another name.
    fileprivate func refuseMembers(besides known: [some CodingKey]) throws {
        let members = try container(keyedBy: AnyName.self).allKeys
        let names = known.map(\.stringValue)
        guard let other = members.first(where: { !names.contains($0.stringValue) }) else { return }
        let advice =
            names.nearest(to: other.stringValue).map { "did you mean \"\($0)\"?" }
            ?? "known are \(names.joined(separator: ", "))"
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "\(DecodingError.unknownMember) \"\(other.stringValue)\"; \(advice)"
            )
        )
    }
}

/// Any member of an object.
private struct AnyName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension DecodingError {
    /// What the description of an unknown member begins with.
    fileprivate static let unknownMember = "unknown member"

    /// The place and the reason, in one line without values.
    var inWords: String {
        let (context, reason): (Context, String) =
            switch self {
            case .dataCorrupted(let context):
                (
                    context,
                    context.debugDescription.hasPrefix(Self.unknownMember) ? context.debugDescription : "it is no JSON"
                )
            case .keyNotFound(let key, let context): (context, "\"\(key.stringValue)\" is missing")
            case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
                (context, "it is not \(Self.word(for: type))")
            @unknown default: (Context(codingPath: [], debugDescription: ""), "it cannot be read")
            }
        let place = context.codingPath.map(\.stringValue).joined(separator: ".")
        return place.isEmpty ? reason : "\(place): \(reason)"
    }

    private static func word(for type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is [Any].Type: "a list"
        default: "an object"
        }
    }
}

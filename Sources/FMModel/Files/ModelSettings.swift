import Foundation

/// A user's settings for names and access, in `fmdata.json` next to the files of the snapshot. Without that file, the
/// values here apply.
package struct ModelSettings: Equatable, Sendable {
    /// The access level of the generated types.
    package var access = AccessLevel.internal
    /// Prefixes that may be left out of a field's name, such as `z_`.
    package var prefixes: [String] = []

    /// The name of the file.
    package static let fileName = "fmdata.json"

    package init() {}

    /// Parses the contents of the file.
    init(reading data: Data) throws(SnapshotError) {
        do {
            self = try JSONDecoder().decode(ModelSettings.self, from: data)
        } catch let error as DecodingError {
            throw SnapshotError(file: Self.fileName, reason: error.inWords)
        } catch {
            throw SnapshotError(file: Self.fileName, reason: "\(error)")
        }
    }
}

extension ModelSettings: Decodable {
    private enum CodingKeys: CodingKey, CaseIterable {
        case access, prefixes
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        access = try container.decodeIfPresent(AccessLevel.self, forKey: .access) ?? .internal
        prefixes = try container.decodeIfPresent([String].self, forKey: .prefixes) ?? []
    }
}

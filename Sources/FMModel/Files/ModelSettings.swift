import Foundation

/// What a user decides about names and access, in `fmdata.json` beside the files of the snapshot. Without that file it is what
/// stands here.
package struct ModelSettings: Equatable, Sendable {
    /// Who may use the generated types.
    package var access = AccessLevel.internal
    /// What may be left out at the beginning of a field's name, such as `z_`.
    package var prefixes: [String] = []

    /// The name of the file.
    package static let fileName = "fmdata.json"

    package init() {}

    /// Reads the file.
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

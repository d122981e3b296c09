import FMDataCore
import Foundation

/// The records that a find for a key has found, sorted by how they have the key: FileMaker's `==` ignores case,
/// accents, width and white space at the ends, and reads dates and numbers in any notation.
struct KeyMatches<Match> {
    /// The records that have exactly the key.
    let exact: [Match]
    let others: OtherMatches

    /// - Parameters:
    ///   - hasMore: whether the find may have found more than these.
    ///   - value: the value of a record's key field.
    init(_ found: [Match], of key: FieldValue, hasMore: Bool, value: (Match) -> WireValue?) {
        let key = WireValue(key)
        exact = found.filter { key.isSame(as: value($0)) }
        if !exact.isEmpty || found.isEmpty {
            others = .none
        } else if hasMore {
            others = .tooMany
        } else {
            let isSpelling = found.allSatisfy { key.isAnotherSpelling(of: value($0)) }
            others = isSpelling ? .spelledOtherwise : .inOtherForm
        }
    }
}

/// What a find for a key has found when no record has exactly the key.
enum OtherMatches: Equatable, Sendable {
    case none
    /// They have the key in another case or with other accents: other records, or the same if the file changes keys as
    /// they are entered.
    case spelledOtherwise
    /// They have a value that FileMaker considers equal; whether it is the same key cannot be decided here.
    case inOtherForm
    /// There are more records than were looked at.
    case tooMany

    /// How many records are looked at; most of them have the key in another spelling.
    static let mostLookedAt = 20
}

extension WireValue {
    func isAnotherSpelling(of other: WireValue?) -> Bool {
        guard case .text(let left) = self, case .text(let right) = other else { return false }
        return left.foldedAsKey == right.foldedAsKey
    }
}

extension String {
    /// The same for all texts that FileMaker considers the same key.
    var foldedAsKey: String {
        trimmingCharacters(in: .whitespacesAndNewlines)
            .folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }
}

extension DataAPI.FindField {
    /// A find for exactly this value, as far as FileMaker's finds are exact.
    static func == (field: DataAPI.FindField, value: FieldValue) -> DataAPI.Find {
        switch value {
        case .number(let number): field == number
        case .text(let text): field == text
        }
    }
}

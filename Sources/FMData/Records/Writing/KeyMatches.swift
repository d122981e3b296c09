import Foundation

/// The records that a find for a key has found, told apart by how they have it: FileMaker's `==` is blind to case,
/// accents, width and blanks at the ends, and reads dates and numbers however they are written.
struct KeyMatches<Match> {
    /// Those that have exactly the key.
    let exact: [Match]
    let others: OtherMatches

    /// - Parameters:
    ///   - hasMore: whether the find may have found more than these.
    ///   - value: what a record has in the field.
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

/// What a find for a key has found when nothing has exactly the key.
enum OtherMatches: Equatable, Sendable {
    case none
    /// They have it in another case, or with other accents: they are somebody else's.
    case spelledOtherwise
    /// They have what FileMaker takes for the same, and nobody can tell here whether it is.
    case inOtherForm
    /// There are more than were looked at.
    case tooMany

    /// How many records are looked at, most of which are spelled in another way.
    static let mostLookedAt = 20
}

extension WireValue {
    fileprivate func isAnotherSpelling(of other: WireValue?) -> Bool {
        guard case .text(let left) = self, case .text(let right) = other else { return false }
        return left.foldedAsKey == right.foldedAsKey
    }
}

extension String {
    /// The same for all texts that FileMaker takes for the same key.
    var foldedAsKey: String {
        trimmingCharacters(in: .whitespacesAndNewlines)
            .folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }
}

extension DataAPI.FindField {
    /// A find for exactly this value, as far as finds are exact.
    static func == (field: DataAPI.FindField, value: FieldValue) -> DataAPI.Find {
        switch value {
        case .number(let number): field == number
        case .text(let text): field == text
        }
    }
}

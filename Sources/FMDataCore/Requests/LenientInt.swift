/// An id or a count as the caller gave it: as a number, or as the text of one, as in programs written for the README
/// that this library succeeds. When a text is no number, the request throws a typed error: nothing traps, and no option
/// is silently left out.
package enum LenientInt: Hashable, Sendable {
    case none
    case number(Int)
    case noNumber

    package init(_ number: Int?) {
        self = number.map(LenientInt.number) ?? .none
    }

    init(text: String?) {
        self = text.map { Int($0).map(LenientInt.number) ?? .noNumber } ?? .none
    }

    /// Takes an id that the call needs.
    package init(id: some DataAPI.RecordIdentifier) {
        self = type(of: id).recordNumber(id).map(LenientInt.number) ?? .noNumber
    }

    /// The number; `nil` when none was given, or a text that is no number.
    package var number: Int? { if case .number(let number) = self { number } else { nil } }

    /// The number, if one was given; throws for a text that is no number.
    ///
    /// - Parameter what: what the number is, for the error. The given text stays out of the error: it may be a field's
    ///   value.
    func checked(_ what: String) throws(FMRest.APIError) -> Int? {
        guard self != .noNumber else {
            throw FMRest.APIError(.invalidRequest, reason: "\(what) is a number; what was given is none.")
        }
        return number
    }

    /// The number of a value created by ``init(id:)``; throws when there is none.
    package func recordId() throws(FMRest.APIError) -> Int {
        guard let number else {
            throw FMRest.APIError(.invalidRequest, reason: "A record id is a number; what was given is none.")
        }
        return number
    }
}

/// An id or a count as the caller gave it: as a number, or as the text of one, as programs for the README that this library
/// succeeds do. A text that is no number is told when the request is made, as a typed error: nothing traps, and nothing that
/// was asked for is left out.
enum GivenNumber: Hashable, Sendable {
    case none
    case number(Int)
    case noNumber

    init(_ number: Int?) {
        self = number.map(GivenNumber.number) ?? .none
    }

    init(text: String?) {
        self = text.map { Int($0).map(GivenNumber.number) ?? .noNumber } ?? .none
    }

    /// An id that a call cannot do without.
    init(id: some DataAPI.RecordIdentifier) {
        self = type(of: id).recordNumber(id).map(GivenNumber.number) ?? .noNumber
    }

    /// The number, as far as there is one.
    var number: Int? { if case .number(let number) = self { number } else { nil } }

    /// The number, if one was given.
    ///
    /// - Parameter what: what it is, for the error. What was given instead stays out of it: it may be a value of a field.
    func checked(_ what: String) throws(FMRest.APIError) -> Int? {
        guard self != .noNumber else {
            throw FMRest.APIError(.invalidRequest, reason: "\(what) is a number; what was given is none.")
        }
        return number
    }

    /// The number of an ``init(id:)``.
    func recordId() throws(FMRest.APIError) -> Int {
        guard let number else {
            throw FMRest.APIError(.invalidRequest, reason: "A record id is a number; what was given is none.")
        }
        return number
    }
}

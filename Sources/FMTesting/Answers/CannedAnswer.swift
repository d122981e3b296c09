import FMData

/// An answer, and what it is for.
struct CannedAnswer: Sendable {
    let operation: DataAPI.Operation
    /// `nil` for any.
    let layout: String?
    let isForEver: Bool
    let answer: TestAnswer
    var isUsed = false

    /// Greater for one that comes before the others that fit; `nil` if it does not fit.
    fileprivate func precedence(for request: TestRequest) -> Int? {
        guard operation == request.operation, layout == nil || layout == request.layout, isForEver || !isUsed else {
            return nil
        }
        return (isForEver ? 0 : 2) + (layout == nil ? 0 : 1)
    }

    /// Greater for one that is more like the one that is missing.
    fileprivate func nearness(to request: TestRequest) -> Int {
        (operation == request.operation ? 2 : 0) + (layout == request.layout ? 1 : 0)
    }

    fileprivate var description: String {
        let place = layout.map { " on \"\($0)\"" } ?? ""
        return "\(operation)\(place)" + (isUsed && !isForEver ? ", which was given already" : "")
    }
}

extension [CannedAnswer] {
    /// The answer for a request, which is used up unless it is for ever: of those that fit equally well the first.
    mutating func take(for request: TestRequest) -> TestAnswer? {
        let fitting = indices.compactMap { index in
            self[index].precedence(for: request).map { (index: index, precedence: $0) }
        }
        guard let best = fitting.max(by: { ($0.precedence, -$0.index) < ($1.precedence, -$1.index) }) else {
            return nil
        }
        self[best.index].isUsed = true
        return self[best.index].answer
    }

    /// What a test reads when the answer to a request is missing.
    func reasonForNone(for request: TestRequest) -> String {
        let missing = "TestTransport has no answer to \(request)."
        guard let nearest = self.max(by: { $0.nearness(to: request) < $1.nearness(to: request) }) else {
            return "\(missing) It has no answers at all."
        }
        return "\(missing) The nearest is that to \(nearest.description)."
    }
}

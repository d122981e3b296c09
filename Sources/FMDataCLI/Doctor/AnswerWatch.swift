import FMData
import OpenCombine

/// The head of an answer.
struct AnswerHead: Sendable {
    var status: Int
    var headers: DataAPI.Headers
    /// From the beginning of the request to the head; for the first request with the connection.
    var time: Duration

    var isCompressed: Bool { headers["Content-Encoding"] != nil }
    /// Whether the connection is closed after the answer.
    var closesConnection: Bool { headers["Connection"]?.lowercased() == "close" }
}

/// Notes the heads of the answers to some calls.
struct AnswerWatch: Sendable {
    /// The step that notes.
    let middleware: DataAPI.Middleware
    private let heads: AsyncStream<AnswerHead>
    private let notes: AsyncStream<AnswerHead>.Continuation

    init() {
        let (heads, notes) = AsyncStream.makeStream(of: AnswerHead.self)
        (self.heads, self.notes) = (heads, notes)
        middleware = DataAPI.Middleware { request, next in
            let start = ContinuousClock.now
            return next(request).handleEvents(receiveOutput: { part in
                guard let status = part.status, let headers = part.headers else { return }
                notes.yield(AnswerHead(status: status, headers: headers, time: .now - start))
            })
            .eraseToAnyPublisher()
        }
    }

    /// Ends the watch. Returns the heads, in their order.
    func ended() async -> [AnswerHead] {
        notes.finish()
        return await heads.reduce(into: []) { $0.append($1) }
    }
}

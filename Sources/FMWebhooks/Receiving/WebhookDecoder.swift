public import FMData
public import Foundation

/// Checks the requests to a receiver: the status to answer, and the hint of a delivery. It does no I/O, so it works
/// with any web framework:
///
///     router.post("/**") { request, context in
///         let body = try await request.body.collect(upTo: 1 << 20)
///         let outcome = decoder.outcome(
///             method: "POST",
///             path: request.uri.path,
///             headers: request.headers.map { ($0.name.rawName, $0.value) },
///             body: Array(body.readableBytesView)
///         )
///         outcome.hint.map { database.changed($0) }
///         return HTTPResponse.Status(code: outcome.status)
///     }
///
/// A delivery is only taken as a hint. FileMaker signs nothing, now and then sends text that is no JSON, and says
/// little or nothing about a deletion. So a delivery that has the secret and the mark is never rejected, whatever its
/// body: the server would send it again for ever, and all later deliveries would wait.
public struct WebhookDecoder: Sendable {
    /// The answer to a request, and its hint.
    public struct Outcome: Sendable, Hashable {
        /// The HTTP status to answer, with an empty body: 200 if the request is authenticated, else 401 or 404.
        public var status: Int
        /// The hint of the delivery; `nil` for rejected requests.
        public var hint: DataAPI.ChangeHint?

        /// An outcome, for tests and test doubles.
        public init(status: Int, hint: DataAPI.ChangeHint? = nil) {
            self.status = status
            self.hint = hint
        }
    }

    private let key: WebhookKey

    /// - Parameter key: the mark and the secret that deliveries must have.
    public init(key: WebhookKey) {
        self.key = key
    }

    /// Checks a request and reads its hint.
    ///
    /// - Parameters:
    ///   - method: the HTTP method. Deliveries are POSTs.
    ///   - path: the path of the request, percent-encoded as received. The segments before the mark are ignored.
    ///   - headers: names and values; the case of a name is ignored.
    ///   - body: the body, or `nil` if it was larger than your limit: then the hint is about the whole table.
    ///   - receivedAt: the time of arrival.
    public func outcome(
        method: String,
        path: String,
        headers: [(name: String, value: String)],
        body: [UInt8]?,
        receivedAt: Date = Date()
    ) -> Outcome {
        let status = status(method: method, path: path, headers: headers)
        guard status == 200, let place = place(path) else { return Outcome(status: status) }
        return Outcome(status: status, hint: hint(at: place, body, receivedAt))
    }

    /// The status by the head of a request alone: 404 for another method, path or mark, 401 for a wrong secret, else
    /// 200.
    func status(method: String, path: String, headers: [(name: String, value: String)]) -> Int {
        guard method == "POST", place(path) != nil else { return 404 }
        let name = WebhookKey.header.lowercased()
        let given = headers.filter { $0.name.lowercased() == name }
        // At least one, and all must be right.
        guard !given.isEmpty, given.allSatisfy({ key.secret.isEqualInConstantTime(to: $0.value) }) else { return 401 }
        return 200
    }

    // MARK: Path

    private struct PathTarget {
        var database: String
        var table: String?
    }

    /// The segments after the mark; `nil` when there is no mark, or no database after it.
    private func place(_ path: String) -> PathTarget? {
        let written = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
        let segments = written.compactMap(\.removingPercentEncoding)
        let mark = key.mark.uuidString.lowercased()
        guard let position = segments.firstIndex(where: { mark.isEqualInConstantTime(to: $0.lowercased()) }) else {
            return nil
        }
        let rest = segments[(position + 1)...]
        guard segments.count == written.count, let database = rest.first, rest.count <= 2 else { return nil }
        return PathTarget(database: database, table: rest.dropFirst().first)
    }

    // MARK: Body

    private func hint(at place: PathTarget, _ body: [UInt8]?, _ receivedAt: Date) -> DataAPI.ChangeHint {
        let delivery = body.flatMap { try? FMDecoder().decode(WebhookDelivery.self, from: $0) }
        var hint = DataAPI.ChangeHint(
            database: place.database,
            table: place.table,
            rowIDs: nil,
            isSchema: false,
            receivedAt: receivedAt
        )
        guard let delivery, let table = delivery.table else { return hint }
        if table.lowercased() == "filemaker_tables" {
            hint.table = nil
            hint.isSchema = true
        } else if place.table == nil || delivery.isAbout(place.table) {
            // The webhook was made for this very name; a context may shorten it.
            hint.table = place.table ?? table
            hint.rowIDs = delivery.rowIDs
        } else {
            // Path and body disagree, so neither is trusted.
            hint.table = nil
        }
        return hint
    }
}

public import FMData
public import Foundation

/// Judges the requests that come in at a receiver: which status to answer, and what a delivery hints at. It knows no network, so it
/// serves behind any web framework:
///
///     router.post("/**") { request, context in
///         let body = try await request.body.collect(upTo: 1 << 20)
///         let verdict = decoder.verdict(
///             method: "POST",
///             path: request.uri.path,
///             headers: request.headers.map { ($0.name.rawName, $0.value) },
///             body: Array(body.readableBytesView)
///         )
///         verdict.hint.map { database.changed($0) }
///         return HTTPResponse.Status(code: verdict.status)
///     }
///
/// What a delivery says is taken for a hint and no more. FileMaker signs nothing, sends text that is no JSON now and then, and says
/// of a deletion little or nothing. A delivery that proves itself is therefore never refused, whatever its body: the server would
/// send it again for ever, and everything behind it would wait.
public struct WebhookDecoder: Sendable {
    /// What to do about a request.
    public struct Verdict: Sendable, Hashable {
        /// The HTTP status to answer, with an empty body: 200 for what proves itself, else 401 or 404.
        public var status: Int
        /// What the delivery hints at; `nil` for requests that are refused.
        public var hint: DataAPI.ChangeHint?

        /// A verdict of your own making, for tests and doubles.
        public init(status: Int, hint: DataAPI.ChangeHint? = nil) {
            self.status = status
            self.hint = hint
        }
    }

    private let key: WebhookKey

    /// - Parameter key: what deliveries must prove themselves by.
    public init(key: WebhookKey) {
        self.key = key
    }

    /// Judges a request.
    ///
    /// - Parameters:
    ///   - method: the HTTP method. Deliveries are POSTs.
    ///   - path: the path of the request, percent-encoded as it came. What stands before the mark does not matter.
    ///   - headers: names and values; the case of a name does not matter.
    ///   - body: the body, or `nil` when there was more of it than you take: a hint at the table then.
    ///   - receivedAt: when it came.
    public func verdict(
        method: String,
        path: String,
        headers: [(name: String, value: String)],
        body: [UInt8]?,
        receivedAt: Date = Date()
    ) -> Verdict {
        let status = status(method: method, path: path, headers: headers)
        guard status == 200, let place = place(path) else { return Verdict(status: status) }
        return Verdict(status: status, hint: hint(at: place, body, receivedAt))
    }

    /// What the head of a request alone decides: 404 for another method, path or mark, 401 for a wrong secret, else 200.
    func status(method: String, path: String, headers: [(name: String, value: String)]) -> Int {
        guard method == "POST", place(path) != nil else { return 404 }
        let name = WebhookKey.header.lowercased()
        let given = headers.filter { $0.name.lowercased() == name }
        // One at least, and none that is wrong.
        guard !given.isEmpty, given.allSatisfy({ key.secret.isEqualInConstantTime(to: $0.value) }) else { return 401 }
        return 200
    }

    // MARK: Where it came

    private struct Place {
        var database: String
        var table: String?
    }

    /// What stands behind the mark; `nil` when there is no mark, or no database behind it.
    private func place(_ path: String) -> Place? {
        let written = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
        let segments = written.compactMap(\.removingPercentEncoding)
        let mark = key.mark.uuidString.lowercased()
        guard let position = segments.firstIndex(where: { mark.isEqualInConstantTime(to: $0.lowercased()) }) else {
            return nil
        }
        let rest = segments[(position + 1)...]
        guard segments.count == written.count, let database = rest.first, rest.count <= 2 else { return nil }
        return Place(database: database, table: rest.dropFirst().first)
    }

    // MARK: What it says

    private func hint(at place: Place, _ body: [UInt8]?, _ receivedAt: Date) -> DataAPI.ChangeHint {
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
            // The hook was made for this very name; a context may cut it short.
            hint.table = place.table ?? table
            hint.rowIDs = delivery.rowIDs
        } else {
            // The path and the body do not agree, so neither is believed.
            hint.table = nil
        }
        return hint
    }
}

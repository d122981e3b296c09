import FMData
import Foundation

/// One exchange as it is written to a file: without secrets.
struct RecordedExchange: Sendable {
    /// What a request asks for: two requests that have the same are answered with the same.
    struct Question: Sendable, Hashable {
        let method: String
        /// With names, and with placeholders for the rest; for contents a placeholder of the whole.
        let path: String
        let recordId: Int?
        /// The parameters of the URL, sorted by name.
        let query: WireValue
        /// The JSON of the body, with its members sorted by name.
        let body: WireValue?
        /// The part of a content that is asked for.
        let range: String?
    }

    /// The body of a response.
    enum Body: Sendable {
        case none
        case json(WireValue)
        case text(String)
        case bytes(Data)
    }

    let operation: String
    let database: String?
    let layout: String?
    let question: Question
    let status: Int
    let headers: [WireValue.Member]
    let body: Body

    init(_ request: DataAPI.OutgoingRequest, _ response: ReceivedResponse, _ redaction: Redaction) {
        operation = request.operation.rawValue
        database = request.database
        layout = request.layout
        question = Question(request, redaction)
        status = response.status
        headers = redaction.headers(response.headers, from: request)
        body = redaction.body(response, of: request)
    }

    /// `0003-findRecords-Contacts.json`; letters and digits only, since layouts have any names.
    func fileName(_ number: Int) -> String {
        let name = layout.map { "-" + $0.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(40) } ?? ""
        return "\(String(repeating: "0", count: max(0, 4 - "\(number)".count)))\(number)-\(operation)\(name).json"
    }
}

// MARK: - The file

extension RecordedExchange {
    /// The content of the file.
    var json: WireValue {
        .object([
            "operation": .text(operation),
            "database": database.map(WireValue.text),
            "layout": layout.map(WireValue.text),
            "request": .object([
                "method": .text(question.method),
                "path": .text(question.path),
                "recordId": question.recordId.map(WireValue.number),
                "query": question.query.members.isEmpty ? nil : question.query,
                "json": question.body,
                "range": question.range.map(WireValue.text),
            ]),
            "response": .object([
                "status": .number(status),
                "headers": .object(headers),
                "json": json(of: body),
                "text": text(of: body),
                "base64": base64(of: body),
            ]),
        ])
    }

    /// - Throws: ``RecordingError`` without the name of the file.
    init(json: WireValue) throws(RecordingError) {
        func text(_ name: String, in object: WireValue) throws(RecordingError) -> String {
            guard let text = object[name]?.text else { throw RecordingError("it has no text \"\(name)\"") }
            return text
        }
        guard let request = json["request"], let response = json["response"], let status = response["status"]?.int
        else {
            throw RecordingError("it has no request, no response or no status")
        }
        operation = try text("operation", in: json)
        database = json["database"]?.text
        layout = json["layout"]?.text
        question = Question(
            method: try text("method", in: request),
            path: try text("path", in: request),
            recordId: request["recordId"]?.int,
            query: (request["query"] ?? .object([WireValue.Member]())).sorted,
            body: request["json"]?.sorted,
            range: request["range"]?.text
        )
        self.status = status
        headers = response["headers"]?.members ?? []
        if let value = response["json"] {
            body = .json(value)
        } else if let text = response["text"]?.text {
            body = .text(text)
        } else if let bytes = response["base64"]?.text.flatMap({ Data(base64Encoded: $0) }) {
            body = .bytes(bytes)
        } else {
            body = .none
        }
    }

    private func json(of body: Body) -> WireValue? { if case .json(let value) = body { value } else { nil } }
    private func text(of body: Body) -> WireValue? { if case .text(let text) = body { .text(text) } else { nil } }
    private func base64(of body: Body) -> WireValue? {
        if case .bytes(let bytes) = body { .text(bytes.base64EncodedString()) } else { nil }
    }
}

// MARK: - Comparison

extension RecordedExchange.Question {
    /// - Parameter redaction: as for the recording that the question is compared with.
    init(_ request: DataAPI.OutgoingRequest, _ redaction: Redaction) {
        method = request.method
        path = request.contentURL.map(redaction.contentPath) ?? request.pathTemplate
        recordId = request.recordId
        query = redaction.query(of: request).sorted
        body = redaction.requestBody(of: request)?.sorted
        range = request.headers["Range"]
    }

    /// Where the other one differs, by names and without values: `body.query[0].City`.
    func differences(from other: Self) -> [String] {
        var places: [String] = []
        if method != other.method { places.append("method") }
        if path != other.path { places.append("path") }
        if recordId != other.recordId { places.append("recordId") }
        if range != other.range { places.append("range") }
        query.addDifferences(from: other.query, at: "query", to: &places)
        switch (body, other.body) {
        case (let body?, let other?): body.addDifferences(from: other, at: "body", to: &places)
        case (nil, nil): break
        default: places.append("body")
        }
        return places
    }
}

extension WireValue {
    fileprivate func addDifferences(from other: WireValue, at place: String, to places: inout [String]) {
        guard self != other else { return }
        switch (self, other) {
        case (.object(let members), .object(let others)):
            for name in Set((members + others).map(\.name)).sorted() {
                let place = "\(place).\(name)"
                switch (self[name], other[name]) {
                case (let value?, let other?): value.addDifferences(from: other, at: place, to: &places)
                default: places.append(place)
                }
            }
        case (.array(let elements), .array(let others)) where elements.count == others.count:
            for (position, pair) in zip(elements, others).enumerated() {
                pair.0.addDifferences(from: pair.1, at: "\(place)[\(position)]", to: &places)
            }
        default: places.append(place)
        }
    }
}

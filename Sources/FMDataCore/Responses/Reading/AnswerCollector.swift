package import FMHTTP
import NIOCore

/// A response type that reads itself from an HTTP answer while it arrives.
package protocol DataAPIResponse: Decodable {
    associatedtype Collector: AnswerCollector = WholeAnswer<Self> where Collector.Response == Self

    /// Whether the call reads or writes fields, which may contain dates.
    static var isAboutRecords: Bool { get }

    /// The number of records in the response; `nil` if it never has some.
    var rowCount: Int? { get }

    /// Stores the names of the scripts that the request started, if the response has script results.
    mutating func nameScripts(_ scripts: ScriptNames)
}

extension DataAPIResponse {
    package static var isAboutRecords: Bool { false }

    package var rowCount: Int? { nil }

    package mutating func nameScripts(_ scripts: ScriptNames) {}
}

/// Takes the parts of one HTTP answer and makes a response from them.
package protocol AnswerCollector: AnyObject {
    associatedtype Response

    init(reader: AnswerReader)
    func take(_ part: HTTPResponsePart) throws
    /// Returns the response after the last part, or throws the error that the answer reports.
    func response() throws -> Response
}

/// Keeps the whole body and reads it at the end, for small answers.
package final class WholeAnswer<Response: Decodable>: AnswerCollector {
    private let reader: AnswerReader
    private var answer = HTTPResponse(status: .ok)

    package init(reader: AnswerReader) {
        self.reader = reader
    }

    package func take(_ part: HTTPResponsePart) {
        switch part {
        case .head(let head):
            answer.status = head.status
            answer.headers = head.headers
        case .body(var bytes):
            answer.body.writeBuffer(&bytes)
        }
    }

    package func response() throws -> Response {
        try reader.read(Response.self, from: answer)
    }

    /// The response of a call that is not part of the Data API and has no messages: the body itself.
    func bareResponse() throws -> Response {
        let answer = try bareAnswer()
        do {
            return try FMDecoder(options: reader.options).decode(Response.self, from: answer.body.readableBytesView)
        } catch {
            throw reader.notDataAPI(answer, underlying: error)
        }
    }

    /// The answer of such a call. Throws for an error status.
    func bareAnswer() throws -> HTTPResponse {
        guard (200..<300).contains(answer.status.code) else {
            // An error answer may have messages nevertheless.
            _ = try reader.read(FMRest.EmptyResponse.self, from: answer)
            throw reader.notDataAPI(answer)
        }
        return answer
    }
}

/// The type as which the records of an answer are read.
package protocol AnswerRecord {
    associatedtype Fields: Decodable
    associatedtype Portals: Decodable

    var recordId: Int { get }

    /// Makes an item from a decoded record.
    static func record(_ record: DataAPI.Record<Fields, Portals>) -> Self

    /// Appends all records that have arrived in full.
    static func take(
        from reader: inout RecordResponseReader<Fields, Portals>,
        into records: inout [Self]
    ) throws(DecodingFailure)
}

extension DataAPI.Record: AnswerRecord where R: Decodable, P: Decodable {
    package static func record(_ record: Self) -> Self { record }

    package static func take(
        from reader: inout RecordResponseReader<R, P>,
        into records: inout [Self]
    ) throws(DecodingFailure) {
        try reader.nextRecords(appendTo: &records)
    }
}

extension RecordAttempt: AnswerRecord where R: Decodable, P: Decodable {
    package static func take(
        from reader: inout RecordResponseReader<R, P>,
        into records: inout [Self]
    ) throws(DecodingFailure) {
        try reader.nextAttempts(appendTo: &records)
    }
}

/// Decodes records one by one while the body arrives, so the body itself is never kept.
package final class RecordCollector<Item: AnswerRecord> {
    private var answer: AnswerBeginning
    /// `nil` after the end.
    private var reader: RecordResponseReader<Item.Fields, Item.Portals>?
    private var records: [Item] = []
    private var failure: DecodingFailure?

    package init(reader: AnswerReader) {
        answer = AnswerBeginning(reader: reader)
        self.reader = reader.recordReader()
    }

    /// The status and headers, with the beginning of the body.
    package var head: HTTPResponse { answer.http }

    package func take(_ part: HTTPResponsePart) {
        answer.take(part)
        guard failure == nil, case .body(let bytes) = part else { return }
        guard var reader = reader.take() else { return }
        reader.feed(bytes)
        do {
            try Item.take(from: &reader, into: &records)
        } catch {
            failure = error
        }
        self.reader = consume reader
    }

    /// Returns the records and the other parts of the answer after the last part, or throws the error that the answer
    /// reports.
    package func finish() throws -> (records: [Item], envelope: RecordResponseEnvelope) {
        if let failure { throw answer.reader.unreadable(answer.http, failure) }
        guard var reader = reader.take() else { preconditionFailure("an answer ends once") }
        let envelope: RecordResponseEnvelope
        do {
            envelope = try reader.finish()
        } catch {
            throw answer.reader.unreadable(answer.http, error)
        }
        answer.reader.retire(reader)
        try answer.reader.check(envelope.messages, of: answer.http)
        return (records, envelope)
    }
}

/// Reads an answer with records.
package final class RecordAnswer<R: Decodable, P: Decodable>: AnswerCollector {
    private let records: RecordCollector<DataAPI.Record<R, P>>

    package init(reader: AnswerReader) {
        records = RecordCollector(reader: reader)
    }

    package func take(_ part: HTTPResponsePart) { records.take(part) }

    package func response() throws -> DataAPI.RecordResponse<R, P> {
        let (records, envelope) = try records.finish()
        return DataAPI.RecordResponse(
            data: records,
            dataInfo: envelope.dataInfo,
            scriptResponse: envelope.scriptResponse,
            messages: envelope.messages
        )
    }
}

/// The head of an answer and the beginning of its body: enough to identify an answer that does not come from the Data
/// API.
struct AnswerBeginning {
    private static let keptBytes = 1024

    let reader: AnswerReader
    private(set) var http = HTTPResponse(status: .ok)

    init(reader: AnswerReader) {
        self.reader = reader
    }

    mutating func take(_ part: HTTPResponsePart) {
        switch part {
        case .head(let head):
            http.status = head.status
            http.headers = head.headers
        case .body(let bytes):
            let room = Self.keptBytes - http.body.readableBytes
            if room > 0 { http.body.writeBytes(bytes.readableBytesView.prefix(room)) }
        }
    }
}

/// An HTTP answer in memory, complete or as far as it was kept.
package struct HTTPResponse: Sendable, Equatable {
    var status: HTTPResponseStatus
    package var headers: HTTPHeaders = [:]
    /// The decompressed body, as far as it was kept.
    var body = ByteBuffer()
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    /// The status and the size of the body. Headers (cookies, tokens) and field values are left out, also in `dump`.
    package var description: String { "\(status.code), \(body.readableBytes) bytes" }

    /// Shows only ``description``.
    package var customMirror: Mirror { Mirror(self, children: ["response": description]) }
}

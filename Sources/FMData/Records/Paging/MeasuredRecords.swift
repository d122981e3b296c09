import FMHTTP
import NIOCore

/// An answer with records, and how long its text was.
struct MeasuredRecords<R: Decodable, P: Decodable>: DataAPIResponse {
    typealias Collector = MeasuredRecordAnswer<R, P>

    static var isAboutRecords: Bool { true }

    var response: DataAPI.RecordResponse<R, P>
    /// After decompression.
    var bytes = 0

    init(_ response: DataAPI.RecordResponse<R, P>, bytes: Int) {
        self.response = response
        self.bytes = bytes
    }

    init(from decoder: any Decoder) throws {
        response = try DataAPI.RecordResponse(from: decoder)
    }

    mutating func nameScripts(_ scripts: ScriptNames) { response.nameScripts(scripts) }
}

/// Decodes records while the body arrives, and counts its bytes.
final class MeasuredRecordAnswer<R: Decodable, P: Decodable>: AnswerCollector {
    private let records: RecordAnswer<R, P>
    private var bytes = 0

    init(reader: AnswerReader) {
        records = RecordAnswer(reader: reader)
    }

    func take(_ part: HTTPResponsePart) {
        if case .body(let part) = part { bytes += part.readableBytes }
        records.take(part)
    }

    func response() throws -> MeasuredRecords<R, P> {
        MeasuredRecords(try records.response(), bytes: bytes)
    }
}

extension DataAPIRequest {
    /// The same request for records, whose answer is measured.
    func measured<R, P>() -> DataAPIRequest<MeasuredRecords<R, P>> where Response == DataAPI.RecordResponse<R, P> {
        reading(MeasuredRecords<R, P>.self)
    }

    /// The same request for records, those that cannot be decoded among them.
    func attempted<R, P>() -> DataAPIRequest<RecordAttempts<R, P>> where Response == DataAPI.RecordResponse<R, P> {
        reading(RecordAttempts<R, P>.self)
    }

    /// The same request, whose answer is read as something else.
    private func reading<Other>(_ type: Other.Type) -> DataAPIRequest<Other> {
        DataAPIRequest<Other>(
            method: method,
            path: path,
            options: options,
            headers: headers,
            body: hasJSONBody ? .json : .none,
            isSafeToRepeat: isSafeToRepeat,
            scripts: scripts,
            context: context
        )
    }

    private var hasJSONBody: Bool { if case .json = body { true } else { false } }
}

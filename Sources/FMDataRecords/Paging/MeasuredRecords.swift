package import FMDataCore
import FMHTTP
package import Foundation
import NIOCore

/// An answer with records, the length of its text, and its date. The item type decides what happens to a record that
/// cannot be decoded: with ``DataAPI/Record`` the call fails, with ``RecordAttempt`` the record is an attempt like the
/// others.
package struct MeasuredRecords<Item: AnswerRecord>: DataAPIResponse {
    package typealias Collector = MeasuredRecordsAnswer<Item>

    package static var isAboutRecords: Bool { true }

    package var records: [Item]
    package var dataInfo: DataAPI.DataInfo
    /// The length of the text after decompression.
    var bytes = 0
    /// The time of the answer, by the host's clock.
    package var date: Date?
    /// The time from when the request had a session to the end of the answer.
    var took = TimeAmount.zero

    package var rowCount: Int? { records.count }
}

extension MeasuredRecords {
    /// Decodes an answer as a whole; one record that cannot be decoded fails it.
    package init(from decoder: any Decoder) throws {
        let response = try DataAPI.RecordResponse<Item.Fields, Item.Portals>(from: decoder)
        self.init(records: response.data.map(Item.record), dataInfo: response.dataInfo)
    }
}

/// Decodes records while the body arrives and counts the bytes.
package final class MeasuredRecordsAnswer<Item: AnswerRecord>: AnswerCollector {
    private let records: RecordCollector<Item>
    private var bytes = 0

    package init(reader: AnswerReader) {
        records = RecordCollector(reader: reader)
    }

    package func take(_ part: HTTPResponsePart) {
        if case .body(let part) = part { bytes += part.readableBytes }
        records.take(part)
    }

    package func response() throws -> MeasuredRecords<Item> {
        let (items, envelope) = try records.finish()
        return MeasuredRecords(
            records: items,
            dataInfo: envelope.dataInfo,
            bytes: bytes,
            date: records.head.headers.first(name: "Date").flatMap(HTTPDate.parse)
        )
    }
}

extension DataAPIRequest {
    /// The same request for records; its answer is measured.
    func measured<Item>(
        as item: Item.Type
    ) -> DataAPIRequest<MeasuredRecords<Item>> where Response == DataAPI.RecordResponse<Item.Fields, Item.Portals> {
        DataAPIRequest<MeasuredRecords<Item>>(
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

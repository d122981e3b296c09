import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import Foundation
import NIOCore
import Testing

@testable import FMDataCore

/// Every saved answer, our own and those that others recorded or wrote, is read into the public types. Its group
/// decides what is expected, not its file.
@Suite struct SavedAnswerTests {
    typealias Records = DataAPI.RecordResponse<FieldData, [String: [FieldData]]>

    @Test func theIndexHasEveryFile() throws {
        let folder = SavedAnswer.ownFolder.path
        let files = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }
            .filter { $0.contains("/") && $0.contains(".") }
        expectNoDifference(SavedAnswer.own.map(\.file).sorted(), files.sorted())
        #expect(SavedAnswer.own.count >= 70)
    }

    @Test(arguments: SavedAnswer.everywhere)
    func everyAnswerIsRead(_ entry: SavedAnswer) throws {
        let body = String(decoding: try entry.bytes(), as: UTF8.self)
        switch entry.group {
        case "errors":
            try checkError(body, entry)
        case "container", "globals":
            _ = try read(FMRest.EmptyResponse.self, body, entry)
        case "databases":
            let list = try read(DataAPI.Database.DatabaseListResponse.self, body, entry, list: "databases")
            expectNoDifference(list.databases.count, body.count(of: #""name""#))
        case "layouts":
            let database = DataAPI.Server(host: "h").addDatabase("d")
            let items = try read(LayoutListBody.self, body, entry, list: "layouts").layouts.map {
                $0.item(in: database)
            }
            let folders = items.map(folderCount).reduce(0, +)
            let layouts = items.flatMap(\.allLayouts).count
            expectNoDifference(folders + layouts, body.count(of: #""name""#))
        case "scripts":
            let items = try read(ScriptListBody.self, body, entry, list: "scripts").scripts
            expectNoDifference(items.map(count).reduce(0, +), body.count(of: #""name""#))
        case "product-info":
            let product = try read(DataAPI.Server.ProductInfoContainer.self, body, entry).productInfo
            expectNoDifference(product.name, "FileMaker Data API Engine")
            expectNoDifference(product.timeStampFormat, "\(product.dateFormat) \(product.timeFormat)")
        case "layout-metadata":
            let metadata = try read(DataAPI.Layout.LayoutMetaData.self, body, entry)
            let fields = metadata.fieldMetaData + metadata.portalMetaData.values.joined()
            expectNoDifference(fields.count, body.count(of: #""displayType""#))
            for field in fields { #expect(!field.name.isEmpty && field.maxRepeat > 0) }
        case "session":
            let login = try read(LoginResponse.self, body, entry)
            expectNoDifference(login.token.map { $0.count > 40 }, body.contains("token") ? true : nil)
        case "record-create", "record-duplicate":
            let created = try read(DataAPI.CreateResponse.self, body, entry)
            #expect(created.recordId > 0)
        case "record-edit":
            #expect(try read(DataAPI.EditRecordResponse.self, body, entry).modId > 0)
        case "record-delete", "script-run":
            let response = try read(DataAPI.ScriptResponse.self, body, entry)
            expectNoDifference(response.scriptError != nil, body.contains("scriptError"))
            expectNoDifference(response.scriptResult != nil, body.contains("scriptResult"))
        case "record-get", "record-find":
            try checkRecords(read(Records.self, body, entry, list: "data"), body)
        default:
            Issue.record("the group \(entry.group) has no type")
        }
    }

    // MARK: Expectations for a group

    private func checkError(_ body: String, _ entry: SavedAnswer) throws {
        struct Refusal: Decodable {
            var messages: [DataAPI.Message]
        }
        let error = try #require(throws: FMRest.APIError.self) {
            _ = try read(FMRest.EmptyResponse.self, body, entry)
        }
        if let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(body.utf8)) {
            expectNoDifference(error.code, .fileMaker)
            expectNoDifference(error.messages, refusal.messages)
            expectNoDifference(error.fileMakerCode.map { "\($0.rawValue)" }, refusal.messages.first?.code)
        } else {
            expectNoDifference(error.code, .notDataAPI)
            #expect(error.hint != nil)
        }
        expectNoDifference(error.httpStatus, entry.httpStatus ?? 500)
    }

    private func checkRecords(_ response: Records, _ body: String) throws {
        expectNoDifference(response.data.count, body.count(of: #""fieldData""#))
        expectNoDifference(response.dataInfo.isReported, body.contains(#""dataInfo""#))
        for record in response.data { #expect(record.recordId > 0) }
        // Compare every value of every field with Foundation's parser.
        let expected = fieldData(in: try JSONSerialization.jsonObject(with: Data(body.utf8)))
        for (record, fields) in zip(response.data, expected) {
            for (name, value) in fields {
                let read = record.fieldData[name]
                switch value {
                case let text as String: expectNoDifference(read?.text, text, "\(name)")
                case let number as NSNumber: expectNoDifference(read?.double, number.doubleValue, "\(name)")
                default: Issue.record("\(name) is neither text nor number")
                }
            }
        }
    }

    private func fieldData(in json: Any) -> [[String: Any]] {
        switch json {
        case let array as [Any]: array.flatMap(fieldData)
        case let object as [String: Any]:
            if let fields = object["fieldData"] as? [String: Any] {
                [fields]
            } else {
                object.sorted { $0.key < $1.key }.flatMap { fieldData(in: $0.value) }
            }
        default: []
        }
    }

    private func folderCount(_ item: DataAPI.Database.LayoutListItem) -> Int {
        guard case .folder(_, let layouts) = item else { return 0 }
        return 1 + layouts.map(folderCount).reduce(0, +)
    }

    private func count(_ item: DataAPI.Database.ScriptItem) -> Int {
        guard case .folder(_, let scripts) = item else { return 1 }
        return 1 + scripts.map(count).reduce(0, +)
    }

    // MARK: Reading

    /// Reads the file as a publisher does: as an HTTP answer that arrives in chunks.
    ///
    /// - Parameter list: the member of the response that contained this list before the client that saved it unwrapped
    ///   it.
    private func read<Response: DataAPIResponse>(
        _ type: Response.Type,
        _ body: String,
        _ entry: SavedAnswer,
        list: String? = nil
    ) throws -> Response {
        let isError = entry.group == "errors"
        var answer = entry.enveloped || isError ? body : enveloped(body, list: list)
        // The author of this answer described only the portals and left out the ids; no server does that.
        if !isError, answer.contains(#""fieldData""#), !answer.contains(#""recordId""#) {
            answer.replace(#""fieldData""#, with: #""recordId":"1","modId":"0","fieldData""#)
        }
        // The author of this answer described only the response and left the messages empty; no server does that.
        if let messages = answer.range(of: #""messages"\s*:\s*\[\s*\]"#, options: .regularExpression) {
            answer.replaceSubrange(messages, with: #""messages":[{"code":"0"}]"#)
        }
        let collector = Response.Collector(reader: AnswerReader())
        let isPage = entry.file.hasSuffix(".html")
        try collector.take(
            .head(
                HTTPResponseHead(
                    version: .http1_1,
                    status: .init(statusCode: entry.httpStatus ?? (isError ? 500 : 200)),
                    headers: ["Content-Type": isPage ? "text/html" : "application/json"]
                )
            )
        )
        var bytes = ByteBuffer(string: answer)
        while let piece = bytes.readSlice(length: min(31, bytes.readableBytes)), piece.readableBytes > 0 {
            try collector.take(.body(piece))
        }
        return try collector.response()
    }

    /// Restores what the client that saved the answer removed: the envelope, and the object around a list or a record.
    private func enveloped(_ body: String, list: String?) -> String {
        var response = body.trimmingCharacters(in: .whitespacesAndNewlines)
        if let list, !response.contains("\"\(list)\"") {
            if !response.hasPrefix("[") { response = "[\(response)]" }
            response = "{\"\(list)\":\(response)}"
        }
        return #"{"response":\#(response),"messages":[{"code":"0","message":"OK"}]}"#
    }
}

extension String {
    fileprivate func count(of part: String) -> Int { components(separatedBy: part).count - 1 }
}

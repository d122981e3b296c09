import FMData
import Foundation

/// A message of an assistant: a JSON-RPC request, or a notification, which has no id and gets no answer.
struct AssistantMessage: Decodable, Sendable {
    var id: FieldValue?
    var method: String
    var parameters: Parameters?

    struct Parameters: Decodable, Sendable {
        var protocolVersion: String?
        var clientInfo: ClientInfo?
        /// The tool that is called.
        var name: String?
        var arguments: AssistantArguments?
        /// The request that is cancelled.
        var requestId: FieldValue?
    }

    struct ClientInfo: Decodable, Sendable {
        var name: String?
        var version: String?
    }

    private enum CodingKeys: String, CodingKey {
        case id, method
        case parameters = "params"
    }

    init(_ line: Data) throws(AssistantError) {
        do {
            self = try FMDecoder().decode(AssistantMessage.self, from: line)
        } catch {
            let isJSON = (try? JSONSerialization.jsonObject(with: line, options: .fragmentsAllowed)) != nil
            throw isJSON ? .invalidRequest : .noJSON
        }
    }
}

/// The arguments of a tool, as the assistant gives them. Each tool has some of them.
struct AssistantArguments: Decodable, Equatable, Sendable {
    var layout: String?
    var recordId: Int?
    var conditions: [String]?
    var raw: Bool?
    var sort: [String]?
    var fields: [String]?
    var portals: [String]?
    var limit: Int?
    var values: FieldData?
    var modId: Int?
    /// The names of arguments that no tool has.
    private(set) var unknown: [String] = []

    enum CodingKeys: String, CodingKey, CaseIterable {
        case layout, recordId, conditions, raw, sort, fields, portals, limit, values, modId
    }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        layout = try container.decodeIfPresent(String.self, forKey: .layout)
        recordId = try container.decodeIfPresent(Int.self, forKey: .recordId)
        conditions = try container.decodeIfPresent([String].self, forKey: .conditions)
        raw = try container.decodeIfPresent(Bool.self, forKey: .raw)
        sort = try container.decodeIfPresent([String].self, forKey: .sort)
        fields = try container.decodeIfPresent([String].self, forKey: .fields)
        portals = try container.decodeIfPresent([String].self, forKey: .portals)
        limit = try container.decodeIfPresent(Int.self, forKey: .limit)
        values = try container.decodeIfPresent(FieldData.self, forKey: .values)
        modId = try container.decodeIfPresent(Int.self, forKey: .modId)
        let names = try decoder.container(keyedBy: FieldData.CodingKeys.self).allKeys.map(\.stringValue)
        unknown = names.filter { CodingKeys(rawValue: $0) == nil }
    }
}

extension AssistantArguments {
    /// The arguments that are given.
    var given: [CodingKeys] {
        let isGiven: [CodingKeys: Bool] = [
            .layout: layout != nil, .recordId: recordId != nil, .conditions: conditions != nil, .raw: raw != nil,
            .sort: sort != nil, .fields: fields != nil, .portals: portals != nil, .limit: limit != nil,
            .values: values != nil, .modId: modId != nil,
        ]
        return CodingKeys.allCases.filter { isGiven[$0] == true }
    }
}

/// An error of the protocol, as JSON-RPC numbers them. What a tool cannot do is none, but an answer of the tool.
struct AssistantError: Error, Equatable {
    var code: Int
    var message: String

    static let noJSON = AssistantError(code: -32_700, message: "The message is no JSON.")
    static let invalidRequest = AssistantError(
        code: -32_600,
        message: "The message is no request of JSON-RPC 2.0 with the parameters that its method takes."
    )

    static func unknownMethod(_ name: String) -> AssistantError {
        AssistantError(code: -32_601, message: "There is no method \"\(name)\".")
    }

    static func invalidParameters(_ message: String) -> AssistantError {
        AssistantError(code: -32_602, message: message)
    }
}

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

extension AssistantMessage {
    /// The id of a message of which nothing else need be right; nil if it has none.
    static func id(of line: Data) -> FieldValue? {
        struct Request: Decodable {
            var id: FieldValue?
        }
        return (try? FMDecoder().decode(Request.self, from: line))?.id
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
    /// The first argument of another type than its own, and what it takes.
    private(set) var mistake: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case layout, recordId, conditions, raw, sort, fields, portals, limit, values, modId
    }

    init() {}

    init(from decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: CodingKeys.self) else {
            mistake = "arguments takes an object."
            return
        }
        var mistakes: [String] = []
        func value<Value: Decodable>(_ key: CodingKeys, _ type: Value.Type = Value.self) -> Value? {
            do {
                return try container.decodeIfPresent(type, forKey: key)
            } catch {
                mistakes.append("\(key.rawValue) takes \(key.takes).")
                return nil
            }
        }
        func number(_ key: CodingKeys) -> Int? {
            // Some assistants write numbers as texts.
            if let text = try? container.decodeIfPresent(String.self, forKey: key), let number = Int(text) {
                return number
            }
            return value(key)
        }
        layout = value(.layout)
        recordId = number(.recordId)
        conditions = value(.conditions)
        raw = value(.raw)
        sort = value(.sort)
        fields = value(.fields)
        portals = value(.portals)
        limit = number(.limit)
        values = value(.values)
        modId = number(.modId)
        mistake = mistakes.first
        let names = try decoder.container(keyedBy: FieldData.CodingKeys.self).allKeys.map(\.stringValue)
        unknown = names.filter { CodingKeys(rawValue: $0) == nil }
    }
}

extension AssistantArguments.CodingKeys {
    /// What the argument takes, in words.
    fileprivate var takes: String {
        switch self {
        case .layout: "a text"
        case .recordId, .modId, .limit: "a whole number"
        case .raw: "true or false"
        case .conditions, .sort, .fields, .portals: "a list of texts"
        case .values: "an object of texts and numbers"
        }
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

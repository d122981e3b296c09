import Foundation

@testable import FMModel

/// A different value for each field of a layout: as a host sends it, as its Swift value prints, and as the library
/// writes it.
struct SampleRecord {
    /// The members of `fieldData`.
    private var members: [String] = []
    private var writtenMembers: [String] = []
    /// Each field as `property=value`, in the order of the fields.
    private(set) var texts: [String] = []

    /// The object as a host sends it.
    var read: String { "{\(members.joined(separator: ","))}" }
    /// The object as the library writes it.
    var written: String { "{\(writtenMembers.joined(separator: ","))}" }

    init(_ fields: [LayoutSnapshot.Field], isRow: Bool = false) throws {
        if isRow { members = [#""recordId": "7""#, #""modId": "8""#] }
        for (position, field) in fields.enumerated() { try add(field, position + 1, isRow) }
    }

    private mutating func add(_ field: LayoutSnapshot.Field, _ position: Int, _ isOfRow: Bool) throws {
        let facts = field.description
        var values: [String] = []
        for repetition in facts.shown {
            let (json, text) = Self.value(facts, position * 10 + repetition)
            let name = facts.isRepeated ? "\(facts.name)(\(repetition))" : facts.name
            members.append("\(try JSONString(name)): \(json)")
            values.append(text)
            guard facts.isWritable, isOfRow || field.isWritten || !facts.name.contains("::") else { continue }
            let isNumbered = facts.isRepeated || facts.shown.lowerBound > 1
            let key = try JSONString(isNumbered ? "\(facts.name)(\(repetition))" : facts.name)
            writtenMembers.append("\(key): \(json)")
        }
        let gap = [String](repeating: "nil", count: facts.shown.lowerBound - 1)
        texts.append("\(field.swift)=\(facts.isRepeated ? "[\((gap + values).joined(separator: ", "))]" : values[0])")
    }

    /// A value as JSON, and as the text of its Swift value.
    private static func value(_ field: FieldDescription, _ number: Int) -> (json: String, text: String) {
        switch field.result {
        case "number": return ("\(number)", "\(number)")
        case "date": return ("\"01/02/\(1000 + number)\"", "\(1000 + number)-01-02")
        case "time": return ("\"\(number):00:00\"", "\(number):00:00")
        case "timeStamp": return ("\"01/02/\(1000 + number) 03:04:05\"", "\(1000 + number)-01-02T03:04:05")
        case "container": return ("\"t\(number)\"", "text(\"t\(number)\")")
        default:
            guard field.isChosen, field.isCheckBox else { return ("\"t\(number)\"", "t\(number)") }
            return (#""t\#(number)\ru\#(number)""#, "[t\(number), u\(number)]")
        }
    }
}

/// A text as JSON, byte for byte.
func JSONString(_ text: String) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return String(decoding: try encoder.encode(text), as: UTF8.self)
}

/// The members of an object with texts and numbers, for a comparison that ignores order and white space. A dictionary
/// would treat two normalization forms of a name as equal.
struct Members {
    let sorted: [[UInt8]]

    init(_ json: String) {
        var members: [[UInt8]] = []
        var member: [UInt8] = []
        var isInText = false
        var isEscaped = false
        for byte in json.utf8.dropFirst().dropLast() {
            if isEscaped {
                isEscaped = false
            } else if isInText, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInText.toggle()
            } else if !isInText, byte == UInt8(ascii: " ") {
                continue
            } else if !isInText, byte == UInt8(ascii: ",") {
                members.append(member)
                member = []
                continue
            }
            member.append(byte)
        }
        if !member.isEmpty { members.append(member) }
        sorted = members.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension Mirror {
    /// Each property as `property=value`, in their order.
    var texts: [String] { children.map { "\($0.label ?? "")=\(Self.text(of: $0.value))" } }

    private static func text(of value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.first.map { text(of: $0.value) } ?? "nil" }
        if let list = value as? any RandomAccessCollection, !(value is String) {
            return "[\(list.map { text(of: $0) }.joined(separator: ", "))]"
        }
        if let raw = (value as? any RawRepresentable)?.rawValue { return "\(raw)" }
        return "\(value)"
    }
}

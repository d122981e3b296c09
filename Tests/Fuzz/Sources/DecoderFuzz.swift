import FMData
import FMTestSupport

@testable import FMDataCore

/// The first byte of an input is the size of the pieces in which the rest arrives. The rest must not trap, must have
/// the same result whole and in pieces, and must be accepted as JSON exactly when a second, simple parser accepts it.
enum DecoderFuzz {
    static func test(_ input: UnsafeRawBufferPointer) {
        guard let first = input.first else { return }
        let body = Array(input.dropFirst())
        checkSyntax(body)
        checkRecords(body, pieces: Int(first) + 1)
        checkTypes(body)
    }
}

private func checkSyntax(_ body: [UInt8]) {
    let hasMark = body.starts(with: [0xEF, 0xBB, 0xBF])
    let isJSON = ReferenceJSON.accepts(hasMark ? Array(body.dropFirst(3)) : body)
    let document = JSONDocument()
    body.withUnsafeBytes { document.append($0) }
    do throws(JSONSyntaxError) {
        try document.readWhole()
        if !isJSON { fatalError("taken for JSON") }
    } catch {
        switch error.reason {
        case .tooDeep, .numberTooLong, .tooLarge:
            return
        case .unexpectedByte, .truncated, .invalidNumber, .controlCharacter, .invalidEscape, .loneSurrogate,
            .invalidUTF8,
            .duplicateKey, .trailingBytes, .missingEnvelope:
            if isJSON { fatalError("not taken for JSON: \(error)") }
        }
    }
}

private struct Outcome: Equatable {
    var records: [DataAPI.Record<FieldData, [String: [FieldData]]>] = []
    var failures: [String] = []
    var envelope: RecordResponseEnvelope?
}

private func checkRecords(_ body: [UInt8], pieces: Int) {
    let whole = outcome(body, pieces: .max)
    let parts = outcome(body, pieces: pieces)
    if whole != parts { fatalError("pieces of \(pieces): \(parts) instead of \(whole)") }
}

private func outcome(_ body: [UInt8], pieces: Int) -> Outcome {
    var outcome = Outcome()
    var reader = RecordResponseReader<FieldData, [String: [FieldData]]>()
    var rest = body[...]
    do throws(DecodingFailure) {
        while !rest.isEmpty {
            rest.prefix(pieces).withUnsafeBytes { reader.feed($0) }
            rest = rest.dropFirst(pieces)
            var isGoingOn = true
            while isGoingOn {
                do throws(DecodingFailure) {
                    guard let record = try reader.nextRecord() else { break }
                    outcome.records.append(record)
                } catch {
                    // An invalid record is skipped; any other error ends the reading.
                    guard error.recordNumber != nil else { throw error }
                    outcome.failures.append(error.description)
                    isGoingOn = outcome.failures.count < 1_000
                }
            }
        }
        outcome.envelope = try reader.finish()
    } catch {
        outcome.failures.append(error.description)
    }
    return outcome
}

private struct Typed: Decodable {
    enum Kind: String, Decodable { case a, b }

    var text: String?
    var int: Int?
    var double: Double?
    var bool: Bool?
    var number: FMNumber?
    var date: FMDate?
    var time: FMTime?
    var timestamp: FMTimestamp?
    var list: [Int]?
    var texts: [String]?
    var kind: Kind?
    var more: [String: [Typed]]?
    var lines: FMList<Int?>?
    var any: [AnyValue]?
    var tree: Tree?
    var gaps: [FieldValue?]?
}

/// Tries one type after the other, as usual `AnyDecodable` types do.
private enum AnyValue: Decodable, Equatable {
    case null, bool(Bool), int(Int), double(Double), text(String), list([AnyValue]), object([String: AnyValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([AnyValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: AnyValue].self))
        }
    }
}

/// Tries a list of itself first, by type and by container, and then a text.
private indirect enum Tree: Decodable {
    case many([Tree]), walked([Tree]), one(String)

    init(from decoder: any Decoder) throws {
        if let many = try? decoder.singleValueContainer().decode([Tree].self) {
            self = .many(many)
        } else if var elements = try? decoder.unkeyedContainer() {
            var walked: [Tree] = []
            while !elements.isAtEnd { walked.append(try Tree(from: elements.superDecoder())) }
            self = .walked(walked)
        } else {
            self = .one(try decoder.singleValueContainer().decode(String.self))
        }
    }
}

/// Decodes itself at the same place, in two ways, and ignores errors.
private indirect enum Endless: Decodable {
    case itself(Endless), maybe(Endless?), nothing

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Endless.self) {
            self = .itself(value)
        } else if let value = try? container.decode(Endless?.self) {
            self = .maybe(value)
        } else {
            self = .nothing
        }
    }
}

private func checkUnions(_ body: [UInt8]) {
    _ = try? FMDecoder().decodeFields(Tree.self, from: body)
    _ = try? FMDecoder().decodeFields([String: Tree].self, from: body)
    if (try? FMDecoder().decodeFields(Endless.self, from: body)) != nil { fatalError("a type without an end was made") }
    // Without numbers in texts the JSON types alone decide, in a record as in plain JSON.
    var options = DecodingOptions()
    options.numbersFromText = false
    let fields = try? FMDecoder(options: options).decodeFields([String: AnyValue].self, from: body)
    let plain = try? FMDecoder().decode([String: AnyValue].self, from: body)
    if fields != plain { fatalError("\(String(describing: fields)) instead of \(String(describing: plain))") }
}

private func checkTypes(_ body: [UInt8]) {
    var options = DecodingOptions()
    options.keys = .withoutTable
    options.malformedText = .repair
    options.emptyIsZero = true
    _ = try? FMDecoder(options: options).decodeFields(Typed.self, from: body)
    checkUnions(body)
    if let fields = try? FMDecoder().decodeFields(FieldData.self, from: body) {
        var encoding = EncodingOptions()
        encoding.lineBreaks = .asTheyAre
        // A number of many digits is read back as a text with the same digits.
        guard let json = try? FMEncoder(options: encoding).encodeFields(fields),
            let again = try? FMDecoder().decodeFields(FieldData.self, from: json), again.names == fields.names,
            again.map(\.value.text) == fields.map(\.value.text)
        else { fatalError("fields do not survive writing and reading") }
    }
    body.withUnsafeBytes { bytes in
        let reader = EnvelopeReader(context: DecodingContext())
        if (try? reader.messages(of: bytes)) != nil { _ = try? reader.response([String: Typed].self) }
    }
}

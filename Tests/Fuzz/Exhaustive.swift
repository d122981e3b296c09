// Every capture, damaged in every way there is with one cut or one byte. Not part of the package: `Tests/Fuzz/exhaust`
// compiles this with the sources of the decoder into one program. Arguments: the longest capture to take, in bytes, and
// the files.
//
// - every prefix is refused;
// - split in two at every place, the same structure is read, entry by entry, and the same records;
// - with every byte replaced by each of the 255 others, left out, or repeated, it is taken exactly when a second, simple
//   parser takes it, and records are decoded or refused without a trap.

import Foundation

@main
enum Exhaustive {
    private typealias Reader = RecordResponseReader<FieldData, [String: [FieldData]]>
    private typealias Record = DataAPI.Record<FieldData, [String: [FieldData]]>

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let longest = arguments.first.flatMap({ Int($0) }) else { fatalError("the longest capture, in bytes?") }
        var cases = 0
        var files = 0
        for file in arguments.dropFirst() {
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
            guard bytes.count <= longest else { continue }
            try cutOff(bytes, file)
            try split(bytes, file)
            damage(bytes, file)
            files += 1
            cases += bytes.count * (255 + 4)
        }
        print("\(files) captures, \(cases) cases")
    }

    private static func cutOff(_ bytes: [UInt8], _ file: String) throws {
        guard let end = bytes.lastIndex(where: { $0 == UInt8(ascii: "}") || $0 == UInt8(ascii: "]") }) else { return }
        for count in 0...end {
            if JSONDocument.takes(bytes[..<count]) { fatalError("\(file): \(count) bytes are taken for whole") }
            if (try? records(bytes[..<count], [])) != nil { fatalError("\(file): \(count) bytes are an answer") }
        }
    }

    private static func split(_ bytes: [UInt8], _ file: String) throws {
        let whole = try JSONDocument.tape(of: bytes, splitAt: bytes.count)
        let answer = try? records(bytes[...], [])
        for place in bytes.indices {
            if try JSONDocument.tape(of: bytes, splitAt: place) != whole { fatalError("\(file): split at \(place)") }
            let parts = try? records(bytes[..<place], bytes[place...])
            if parts?.records != answer?.records || parts?.envelope != answer?.envelope {
                fatalError("\(file): records split at \(place)")
            }
        }
    }

    private static func damage(_ bytes: [UInt8], _ file: String) {
        var damaged = bytes
        for place in bytes.indices {
            for byte in UInt8.min...UInt8.max where byte != bytes[place] {
                damaged[place] = byte
                judge(damaged, "\(file): \(byte) at \(place)")
            }
            damaged[place] = bytes[place]
            var shorter = bytes
            shorter.remove(at: place)
            judge(shorter, "\(file): without the byte at \(place)")
            var longer = bytes
            longer.insert(bytes[place], at: place)
            judge(longer, "\(file): the byte at \(place) twice")
        }
    }

    private static func judge(_ bytes: [UInt8], _ what: @autoclosure () -> String) {
        let isJSON = JSONDocument.takes(bytes[...])
        if isJSON != ReferenceJSON.accepts(Array(bytes.dropFirst(bytes.starts(with: mark) ? 3 : 0))) {
            fatalError("\(what()): \(isJSON ? "" : "not ")taken for JSON")
        }
        if isJSON { _ = try? records(bytes[...], []) }
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private static func records(
        _ first: ArraySlice<UInt8>,
        _ second: ArraySlice<UInt8>
    ) throws -> (records: [Record], envelope: RecordResponseEnvelope) {
        var reader = Reader()
        var records: [Record] = []
        for part in [first, second] {
            part.withUnsafeBytes { reader.feed($0) }
            try reader.nextRecords(appendTo: &records)
        }
        return (records, try reader.finish())
    }
}

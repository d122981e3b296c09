import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// The network may split an answer anywhere: every split gives the same records and envelope.
@Suite struct ByteBufferTests {
    private typealias Reader = RecordResponseReader<FieldData, [String: [FieldData]]>

    private struct Outcome: Equatable {
        var records: [DataAPI.Record<FieldData, [String: [FieldData]]>]
        var envelope: RecordResponseEnvelope
    }

    /// Escapes, characters of two, three and four bytes, numbers, a portal and white space, so that splits fall into
    /// each of them.
    private static let answer = ByteBuffer(
        string: #"""
            {"response":{"dataInfo":{"database":"D","layout":"L","table":"T","totalRecordCount":2,"foundCount":2,
            "returnedCount":2},"data":[{"fieldData":{"a\u00e9":"é日🎉\ud83d\ude00\r\"","n":-12.50e1,"z":0},"portalData":
            {"P":[{"P::x":"","recordId":"3"}]},"recordId":"1","modId":"0"},
            {"fieldData":{"a\u00e9":"b","n":17,"z":true},"portalData":{"P":[]},"recordId":"2","modId":"5"}]},
            "messages":[{"code":"0","message":"OK"}]}
            """#
    )

    private func outcome(_ chunks: [ByteBuffer]) throws -> Outcome {
        var reader = Reader()
        var records: [DataAPI.Record<FieldData, [String: [FieldData]]>] = []
        for chunk in chunks {
            reader.feed(chunk)
            while let record = try reader.nextRecord() { records.append(record) }
        }
        return Outcome(records: records, envelope: try reader.finish())
    }

    /// The bytes of a range in a buffer like those of a channel: part of it has been read, and there is room at its
    /// end.
    private func chunk(_ range: Range<Int>) throws -> ByteBuffer {
        let bytes = try #require(Self.answer.getBytes(at: range.lowerBound, length: range.count))
        var buffer = ByteBufferAllocator().buffer(capacity: bytes.count + 64)
        buffer.writeString("\"}]read already")
        buffer.moveReaderIndex(forwardBy: buffer.readableBytes)
        buffer.writeBytes(bytes)
        return buffer
    }

    @Test func theWholeAnswer() throws {
        let whole = try outcome([Self.answer])
        #expect(whole.records.map(\.recordId) == [1, 2])
        #expect(whole.records[0].fieldData == ["aé": "é日🎉😀\r\"", "n": .number(try #require(FMNumber("-125"))), "z": 0])
        #expect(whole.records[0].portalData?["P"]?.count == 1)
        #expect(whole.records[1].fieldData["n"] == 17)
        #expect(whole.envelope.dataInfo.returnedCount == 2)
        #expect(whole.envelope.messages.map(\.code) == ["0"])
    }

    /// All chunks have the same size; every size is tried.
    @Test func everySize() throws {
        let whole = try outcome([Self.answer])
        let count = Self.answer.readableBytes
        for size in 1...count {
            let chunks = try stride(from: 0, to: count, by: size).map { try chunk($0..<min($0 + size, count)) }
            expectNoDifference(try outcome(chunks), whole, "chunks of \(size)")
        }
    }

    /// Two chunks, split at every place, with empty buffers before, between and after them.
    @Test func everyPlace() throws {
        let whole = try outcome([Self.answer])
        let count = Self.answer.readableBytes
        for place in 0...count {
            let chunks = [ByteBuffer(), try chunk(0..<place), ByteBuffer(), try chunk(place..<count), ByteBuffer()]
            expectNoDifference(try outcome(chunks), whole, "cut at \(place)")
        }
    }

    /// A slice shares the memory of a larger buffer: only the bytes of the slice are read.
    @Test func slices() throws {
        let whole = try outcome([Self.answer])
        var rest = Self.answer
        var chunks: [ByteBuffer] = []
        while let slice = rest.readSlice(length: min(31, rest.readableBytes)), slice.readableBytes > 0 {
            chunks.append(slice)
        }
        expectNoDifference(try outcome(chunks), whole)
    }

    /// The reader leaves the buffer as it was, so it can be fed to another reader.
    @Test func feedingTakesNothing() throws {
        let buffer = Self.answer
        var reader = Reader()
        reader.feed(buffer)
        #expect(buffer == Self.answer)
        #expect(buffer.readerIndex == 0)
    }

    @Test func nothingAtAll() throws {
        #expect(throws: DecodingFailure.self) { try outcome([]) }
        #expect(throws: DecodingFailure.self) { try outcome([ByteBuffer()]) }
    }

    /// An answer is recognized as cut off wherever it ends.
    @Test func everyEndTooEarly() throws {
        let end = try #require(Self.answer.readableBytesView.lastIndex(of: UInt8(ascii: "}")))
        for count in 0..<end {
            #expect(throws: DecodingFailure.self, "\(count) bytes") { try outcome([try chunk(0..<count)]) }
        }
    }

    // MARK: Whole bodies

    @Test func anEnvelopeFromTheMiddleOfABuffer() throws {
        var buffer = ByteBuffer(string: #"x{"response":{"a":[1,2]},"messages":[{"code":"0","message":"OK"}]}y"#)
        buffer.moveReaderIndex(forwardBy: 1)
        buffer.moveWriterIndex(to: buffer.writerIndex - 1)
        let reader = EnvelopeReader(context: DecodingContext())
        #expect(try reader.messages(of: buffer).map(\.code) == ["0"])
        #expect(try reader.response([String: [Int]].self) == ["a": [1, 2]])
    }

    @Test func anEnvelopeThatIsCutOff() {
        let body = ByteBuffer(string: #"{"response":{},"messages":[{"code":"0","message":"OK"}]}"#)
        for count in 0..<body.readableBytes {
            #expect(throws: DecodingFailure.self, "\(count) bytes") {
                let part = try #require(body.getSlice(at: 0, length: count))
                _ = try EnvelopeReader(context: DecodingContext()).messages(of: part)
            }
        }
    }
}

import CustomDump
import FMData
import FMHTTP
import NIOCore
import Testing

@testable import FMDataCore

/// A decoding context is reused for the next answer: nothing of the previous answer may show there.
struct DecodingContextsTests {
    private struct Pet: Codable, Equatable {
        var name: String
        var legs: Int
    }

    private struct Boat: Codable, Equatable {
        var legs: String?
        var draught: Double
        var name: String
    }

    private typealias Record<Fields: Decodable> = DataAPI.Record<Fields, EmptyPortal>

    private let reader = AnswerReader()

    private func answer(_ fields: [String], code: String = "0", message: String = "OK") -> String {
        let records = fields.enumerated().map { number, fields in
            #"{"fieldData":\#(fields),"portalData":{},"recordId":"\#(number + 1)","modId":"0","portalDataInfo":[]}"#
        }
        let data = records.joined(separator: ",")
        return #"{"response":{"data":[\#(data)]},"messages":[{"code":"\#(code)","message":"\#(message)"}]}"#
    }

    private func read<Fields: Decodable>(_ type: Fields.Type, _ json: String, pieces: Int = 1) throws -> [Fields] {
        let collector = RecordAnswer<Fields, EmptyPortal>(reader: reader)
        collector.take(.head(HTTPResponseHead(version: .http1_1, status: .ok)))
        let bytes = Array(json.utf8)
        let size = bytes.count / pieces + 1
        for start in stride(from: 0, to: bytes.count, by: size) {
            collector.take(.body(ByteBuffer(bytes: bytes[start..<min(bytes.count, start + size)])))
        }
        return try collector.response().data.map(\.fieldData)
    }

    @Test func answersOfOneTypeAfterThoseOfAnother() throws {
        let pets = answer([#"{"name":"Rex","legs":4}"#, #"{"legs":"2","name":"Polly"}"#])
        let boats = answer([#"{"name":"Anna","legs":"","draught":1.5}"#])
        for pieces in 1...9 {
            expectNoDifference(
                try read(Pet.self, pets, pieces: pieces),
                [Pet(name: "Rex", legs: 4), Pet(name: "Polly", legs: 2)]
            )
            expectNoDifference(
                try read(Boat.self, boats, pieces: pieces),
                [Boat(legs: "", draught: 1.5, name: "Anna")]
            )
            expectNoDifference(try read(Pet.self, answer([]), pieces: pieces), [])
        }
    }

    @Test func anAnswerAfterOneThatFailed() throws {
        let pets = answer([#"{"name":"Rex","legs":4}"#])
        for broken in [
            answer([#"{"name":"Rex","legs":4}"#, #"{"name":"Rex"}"#]), String(pets.dropLast(7)), pets + "x", "[1]",
            answer([], code: "101", message: "Record is missing"), answer([#"{"name":"Rex","legs":"four"}"#]),
        ] {
            #expect(throws: (any Error).self) { try read(Pet.self, broken) }
            expectNoDifference(try read(Pet.self, pets), [Pet(name: "Rex", legs: 4)])
        }
    }

    /// Keeps its decoder and reads with it after the answer has been read.
    private struct Hoarder: Decodable {
        let decoder: any Decoder

        init(from decoder: any Decoder) { self.decoder = decoder }

        func pet() throws -> Pet { try Pet(from: decoder) }
    }

    @Test func aDecoderThatIsKeptGoesOnWorking() throws {
        let kept = try read(Hoarder.self, answer([#"{"name":"Rex","legs":4}"#]))
        expectNoDifference(
            try read(Pet.self, answer([#"{"name":"Polly","legs":2}"#])),
            [Pet(name: "Polly", legs: 2)]
        )
        expectNoDifference(try kept.map { try $0.pet() }, [Pet(name: "Rex", legs: 4)])
    }

    /// Keeps a container instead of a decoder.
    private struct Magpie: Decodable {
        enum Key: CodingKey { case name }
        let container: KeyedDecodingContainer<Key>

        init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: Key.self) }
    }

    @Test func aContainerThatIsKeptGoesOnWorking() throws {
        let kept = try read(Magpie.self, answer([#"{"name":"Rex"}"#, #"{"name":"Tom"}"#]))
        _ = try read(Pet.self, answer([#"{"name":"Polly","legs":2}"#]))
        expectNoDifference(try kept.map { try $0.container.decode(String.self, forKey: .name) }, ["Rex", "Tom"])
    }

    @Test func aContextComesBackFromEachAnswerThatWasRead() throws {
        let pets = answer([#"{"name":"Rex","legs":4}"#])
        for _ in 0..<3 {
            _ = try read(Pet.self, pets)
            expectNoDifference(reader.contexts.spareCount, 1)
        }
        let body = ByteBuffer(string: #"{"response":{"scriptError":"0"},"messages":[{"code":"0","message":"OK"}]}"#)
        for _ in 0..<3 {
            let http = HTTPResponse(status: .ok, headers: [:], body: body)
            expectNoDifference(try reader.read(DataAPI.ScriptResponse.self, from: http).scriptError, "0")
            expectNoDifference(reader.contexts.spareCount, 1)
        }
        var stream = RecordStream<Pet, EmptyPortal>(reader: reader)
        expectNoDifference(reader.contexts.spareCount, 0)
        stream.take([.body(ByteBuffer(string: pets))], isLast: true)
        guard case .record = stream.takeNext(), case .end = stream.takeNext() else {
            Issue.record("the stream has one record and its end")
            return
        }
        expectNoDifference(reader.contexts.spareCount, 1)
        // A value that keeps its decoder or container also keeps the context. The spare context is the one that read
        // the rest of the answer.
        let kept = (try read(Hoarder.self, pets), try read(Magpie.self, pets))
        expectNoDifference(reader.contexts.spareCount, 1)
        expectNoDifference(try read(Pet.self, answer([#"{"name":"Polly","legs":2}"#])).map(\.name), ["Polly"])
        expectNoDifference(try kept.0.map { try $0.pet() }, [Pet(name: "Rex", legs: 4)])
        expectNoDifference(try kept.1.map { try $0.container.decode(String.self, forKey: .name) }, ["Rex"])
    }

    @Test func aDecoderKeepsWhatItHasLearnedAndNothingElse() throws {
        let decoder = FMDecoder()
        let copies = [decoder, decoder]
        for (number, decoder) in (copies + copies).enumerated() {
            let pets = Array(answer([#"{"name":"\#(number)","legs":\#(number)}"#]).utf8)
            let response = try decoder.decodeAnswer(DataAPI.RecordResponse<Pet, EmptyPortal>.self, from: pets)
            expectNoDifference(response.data.map(\.fieldData), [Pet(name: "\(number)", legs: number)])
            // The incomplete text of this call is not part of the next one.
            #expect(throws: DecodingFailure.self) { try decoder.decode(Int.self, from: Array("[7".utf8)) }
            let pet = try decoder.decodeFields(Pet.self, from: Array(#"{"legs":"\#(number)","name":"Polly"}"#.utf8))
            expectNoDifference(pet, Pet(name: "Polly", legs: number))
            expectNoDifference(try decoder.decode([Int].self, from: Array("[\(number)]".utf8)), [number])
            let kept = try decoder.decode(Hoarder.self, from: Array(#"{"name":"Rex","legs":4}"#.utf8))
            expectNoDifference(try decoder.decode(Int.self, from: Array("5".utf8)), 5)
            expectNoDifference(try kept.pet(), Pet(name: "Rex", legs: 4))
        }
        var exact = decoder
        exact.options.numbersFromText = false
        let pets = Array(answer([#"{"name":"Rex","legs":"4"}"#]).utf8)
        _ = try decoder.decodeAnswer(DataAPI.RecordResponse<Pet, EmptyPortal>.self, from: pets)
        #expect(throws: DecodingFailure.self) {
            try exact.decodeAnswer(DataAPI.RecordResponse<Pet, EmptyPortal>.self, from: pets)
        }
        exact.userInfo[.kennel] = "North"
        let nothing = Array(answer(["{}"]).utf8)
        let homes = try exact.decodeAnswer(DataAPI.RecordResponse<Home, EmptyPortal>.self, from: nothing)
        expectNoDifference(homes.data.map(\.fieldData.kennel), ["North"])
    }

    private struct Home: Decodable {
        let kennel: String?

        init(from decoder: any Decoder) { kennel = decoder.userInfo[.kennel] as? String }
    }

    @Test func manyAtOnceDoNotMix() async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for number in 0..<200 {
                tasks.addTask {
                    let pets = try read(Pet.self, answer([#"{"name":"\#(number)","legs":\#(number)}"#]), pieces: 3)
                    expectNoDifference(pets, [Pet(name: "\(number)", legs: number)])
                }
            }
            try await tasks.waitForAll()
        }
    }
}

extension CodingUserInfoKey {
    fileprivate static let kennel = CodingUserInfoKey.named("kennel")
}

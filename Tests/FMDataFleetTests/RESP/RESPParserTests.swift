import CustomDump
import FMTestSupport
import NIOCore
import Testing

@testable import FMDataFleet

@Suite struct RESPParserTests {
    /// What a store sends, as it was recorded from Redis 7.0.15 where it can send that, and what it means.
    private static let examples: [(bytes: String, value: RESPValue)] = [
        ("+OK\r\n", .simple("OK")),
        ("-NOSCRIPT No matching script. Please use EVAL.\r\n", .error(RESPError("NOSCRIPT".utf8))),
        (":-3\r\n", .integer(-3)),
        (":9223372036854775807\r\n", .integer(.max)),
        ("$3\r\na b\r\n", .text(Array("a b".utf8))),
        ("$0\r\n\r\n", .text([])),
        ("$4\r\na\r\nb\r\n", .text(Array("a\r\nb".utf8))),
        ("$-1\r\n", .null),
        ("*-1\r\n", .null),
        ("_\r\n", .null),
        ("#t\r\n", .bool(true)),
        ("#f\r\n", .bool(false)),
        (",3.141\r\n", .double(3.141)),
        (",-inf\r\n", .double(-.infinity)),
        ("(1234567999999999999999999999999999999\r\n", .big("1234567999999999999999999999999999999")),
        ("=15\r\ntxt:Some string\r\n", .text(Array("Some string".utf8))),
        ("!21\r\nSYNTAX invalid syntax\r\n", .error(RESPError("SYNTAX".utf8))),
        ("*0\r\n", .array([])),
        (
            "*5\r\n:1\r\n:2\r\n$0\r\n\r\n:0\r\n*1\r\n+x\r\n",
            .array([.integer(1), .integer(2), .text([]), .integer(0), .array([.simple("x")])])
        ),
        ("~1\r\n:1\r\n", .array([.integer(1)])),
        ("%1\r\n$1\r\na\r\n$1\r\n1\r\n", .map([.text([0x61]), .text([0x31])])),
        ("|1\r\n+ttl\r\n:3600\r\n:7\r\n", .integer(7)),
        (
            ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\ng\r\n",
            .push([.text(Array("message".utf8)), .text([0x63]), .text([0x67])])
        ),
    ]

    private func parse(_ pieces: [String]) throws -> [RESPValue] {
        var parser = RESPParser()
        var values: [RESPValue] = []
        for piece in pieces {
            parser.append(ByteBuffer(string: piece))
            while let value = try parser.next() { values.append(value) }
        }
        return values
    }

    @Test(arguments: examples) func aValueIsRead(bytes: String, value: RESPValue) throws {
        expectNoDifference(try parse([bytes]), [value])
    }

    @Test func nanIsANumber() throws {
        guard case .double(let number)? = try parse([",nan\r\n"]).first else {
            return #expect(Bool(false), "no number")
        }
        #expect(number.isNaN)
    }

    @Test func anyCutGivesTheSameValues() throws {
        let all = Self.examples.map(\.bytes).joined()
        let values = Self.examples.map(\.value)
        let bytes = Array(all.utf8)
        for cut in 0...bytes.count {
            let pieces = [bytes[..<cut], bytes[cut...]].map { String(decoding: $0, as: UTF8.self) }
            expectNoDifference(try parse(pieces), values)
        }
        expectNoDifference(try parse(bytes.map { String(decoding: [$0], as: UTF8.self) }), values)
    }

    @Test(arguments: [
        "x\r\n", ":\r\n", ":1a\r\n", ":9223372036854775808\r\n", "$-2\r\n", "$1\r\nab\r\n", "#x\r\n", ",x\r\n",
        "(1.5\r\n", "=3\r\ntxt\r\n", "=-1\r\n", "+a\nb\r\n", "+a\rb", "_x\r\n", "*x\r\n", "$?\r\n",
        "POST / HTTP/1.1\r\n",
    ])
    func malformedBytesAreTheEnd(bytes: String) {
        var parser = RESPParser()
        parser.append(ByteBuffer(string: bytes))
        #expect(throws: RESPParser.Failure.malformed) { try parser.next() }
        parser.append(ByteBuffer(string: "+OK\r\n"))
        #expect(throws: RESPParser.Failure.malformed) { try parser.next() }
    }

    @Test(arguments: [
        "$101\r\n", "*11\r\n", "%6\r\n", "*2\r\n*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n*5\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "+" + String(repeating: "a", count: 21),
        "*10\r\n" + String(repeating: "+aaaaaaaaaaaa\r\n", count: 9),
    ])
    func whatIsTooLargeIsTheEnd(bytes: String) {
        var limits = RESPParser.Limits()
        limits.bytes = 100
        limits.depth = 3
        limits.elements = 10
        limits.lineBytes = 20
        var parser = RESPParser(limits: limits)
        parser.append(ByteBuffer(string: bytes))
        #expect(throws: RESPParser.Failure.tooLarge) { try parser.next() }
    }

    @Test(arguments: 1...UInt64(Effort.of(3000, brief: 300)))
    func anyBytesMeanTheSameHoweverTheyAreCut(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let alphabet = ["+", "-", ":", "$", "*", "_", "#", ",", "(", "!", "=", "~", "%", "|", ">", "0", "1", "2", "x"]
        let ends = ["\r\n", "\r\n", "\r\n", "\r", "\n", ""]
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes += Array((alphabet.randomElement(using: &random) ?? "").utf8)
            }
            bytes += Array((ends.randomElement(using: &random) ?? "").utf8)
        }
        // As texts, since one number that is none differs from another.
        func outcome(of pieces: [[UInt8]]) -> [String] {
            var parser = RESPParser()
            var outcome: [String] = []
            for piece in pieces {
                parser.append(ByteBuffer(bytes: piece))
                do throws(RESPParser.Failure) {
                    while let value = try parser.next() { outcome.append("\(value)") }
                } catch {
                    return outcome + ["\(error)"]
                }
            }
            return outcome
        }
        expectNoDifference(outcome(of: bytes.map { [$0] }), outcome(of: [bytes]))
    }

    @Test func onlyTheFirstWordOfAnErrorIsKept() {
        let error = RESPError("ERR unknown command 'HELLO', with args beginning with: 'AUTH' 'ada' 'canary'".utf8)
        expectNoDifference(error.word, "ERR")
        expectNoDifference(error.isUnknownCommand, true)
        #expect(!"\(error)".contains("canary"))
        expectNoDifference(RESPError("wrong canary".utf8).word, "ERR")
    }

    @Test func aCommandIsSentAsTexts() {
        var command = RESPCommand("SET", "k")
        command.append([0xff, 0x0d])
        var buffer = ByteBuffer()
        command.write(into: &buffer)
        expectNoDifference(
            Array(buffer.readableBytesView),
            Array("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n".utf8) + [0xff, 0x0d] + Array("\r\n".utf8)
        )
        expectNoDifference("\(command)", "SET")
    }
}

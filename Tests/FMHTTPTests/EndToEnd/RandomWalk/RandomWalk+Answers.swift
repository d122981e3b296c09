import FMTestSupport
import NIOCore

// The server's side of a walk. Its answer to a request follows from the seed, the request and the number of its
// attempts.
extension RandomWalk {
    /// The steps when a connection is accepted.
    static func welcome(connection: Int, _ plan: Plan) -> [FaultServer.Step] {
        var random = SeededRandom(seed: plan.seed << 40 ^ UInt64(connection) << 20)
        switch Int.random(in: 0..<80, using: &random) {
        case 0: return [.close]
        case 1: return [.reset]
        case 2: return [.closeOutput]
        default: return []
        }
    }

    /// A correct answer has the request's target as its body. If HTTP itself cannot distinguish a part from the whole,
    /// a header of the answer says so.
    static func answer(_ request: FaultServer.Request, attempt: Int, _ plan: Plan) -> [FaultServer.Step] {
        let number = UInt64(request.target.dropFirst()) ?? 0
        var random = SeededRandom(seed: plan.seed << 40 ^ number << 8 ^ UInt64(attempt))
        let form = Form.often.randomElement(using: &random) ?? .length
        let whole = form.text(request.target)
        guard Int.random(in: 0..<10, using: &random) >= 7 else {
            return form.endsWithConnection ? [.send(whole), .close] : [.send(whole)]
        }
        return spoil(whole, form, request.target, &random)
    }

    /// The ways to send the same body.
    private enum Form: CaseIterable {
        case length, chunks, informational, lastOfConnection, briefly, untilClose

        /// Forms that keep the connection are more frequent.
        static let often = allCases + [.length, .chunks, .informational, .briefly, .length, .chunks]

        var endsWithConnection: Bool { self == .untilClose }

        func text(_ body: String) -> String {
            let count = body.utf8.count
            let first = body.prefix(1)
            return switch self {
            case .length:
                "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n\(body)"
            case .chunks:
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\n\(first)\r\n"
                    + "\(String(count - 1, radix: 16))\r\n\(body.dropFirst())\r\n0\r\nX-Trailer: 1\r\n\r\n"
            case .informational:
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Made\r\n"
                    + "Content-Length: \(count)\r\n\r\n\(body)"
            case .lastOfConnection:
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(count)\r\n\r\n\(body)"
            case .briefly:
                "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: \(count)\r\n\r\n\(body)"
            case .untilClose:
                "HTTP/1.1 200 OK\r\nX-Maybe-Short: 1\r\n\r\n\(body)"
            }
        }
    }

    private static func spoil(
        _ whole: String,
        _ form: Form,
        _ body: String,
        _ random: inout SeededRandom
    ) -> [FaultServer.Step] {
        let part = String(whole.prefix(Int.random(in: 0..<whole.count, using: &random)))
        let head = "HTTP/1.1 200 OK\r\n"
        switch Int.random(in: 0..<22, using: &random) {
        // Cut off, in each possible way, or stalled.
        case 0, 1: return [.send(part), .close]
        case 2, 3: return [.send(part), .reset]
        case 4: return [.send(part), .closeOutput]
        case 5: return [.send(part)]
        case 6: return [.sendByteByByte(part), .reset]
        // Correct, and then the connection ends, perhaps while the next request is sent.
        case 7: return [.send(whole), .close]
        case 8: return [.send(whole), .reset]
        case 9: return [.send(whole), .closeOutput]
        // Slow, or large.
        case 10: return form.endsWithConnection ? [.send(whole), .close] : [.sendByteByByte(whole)]
        case 11:
            let count = 100_000
            return [
                .send("\(head)X-Zeros: \(count)\r\nContent-Length: \(body.utf8.count + count)\r\n\r\n\(body)"),
                .sendZeros(count),
            ]
        case 12:
            return [.send("\(head)Content-Length: 400000\r\n\r\n\(body)"), .sendZeros(100_000), .reset]
        // Wrong lengths.
        case 13: return [.send("\(head)Content-Length: \(body.utf8.count + 1)\r\n\r\n\(body)"), .close]
        case 14: return [.send("\(head)X-Maybe-Short: 1\r\nContent-Length: 1\r\n\r\n\(body)")]
        case 15: return [.send("\(head)Content-Length: 1, 2\r\n\r\n\(body)")]
        case 16: return [.send("\(head)Transfer-Encoding: chunked\r\n\r\n-2\r\n\(body)\r\n0\r\n\r\n")]
        case 17: return [.send("\(head)Transfer-Encoding: chunked\r\n\r\n1\r\n\(body)\r\n0\r\n\r\n")]
        // Garbage, before or after.
        case 18: return [.send("SSH-2.0-OpenSSH_9.6\r\n")]
        case 19:
            return form.endsWithConnection
                ? [.close] : [.send(whole + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")]
        // Heads beyond the limits.
        case 20: return [.send("\(head)X: \(String(repeating: "x", count: 70_000))")]
        default: return [.send(head + String(repeating: "X: y\r\n", count: 200) + "\r\n")]
        }
    }
}

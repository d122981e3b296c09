import FMSandbox

/// A fault on the command line: `find:html502+1*2`.
struct FaultArgument {
    let rule: Sandbox.FaultRule

    /// What is wrong with a fault, and what is right.
    struct Failure: Error, Equatable {
        var reason: String
    }

    /// The faults as they are written, for texts.
    static let faults = [
        "expireToken", "refuseToken", "refuseFreshToken", "lostLogout", "lateLogout<milliseconds>",
        "delay<milliseconds>", "holdAnswer", "cut<bytes>", "cutAnswer<bytes>", "cutChunked<bytes>",
        "badChunkSize<bytes>=<mistake>", "closeAfterAnswer", "reset", "resetAfterExecution", "html<status>",
        "empty<status>", "brokenJSON", "error<code>", "fullHost", "restart",
    ]

    init(_ argument: String) throws(Failure) {
        var text = argument[...]
        var count: Int? = 1
        if let star = text.lastIndex(of: "*") {
            let times = text[text.index(after: star)...]
            count = Int(times)
            guard times == "always" || count.map({ $0 > 0 }) ?? false else {
                throw Failure(reason: "after * comes how many times it strikes, from 1 on, or always: \(argument)")
            }
            text = text[..<star]
        }
        var skipping = 0
        if let plus = text.lastIndex(of: "+") {
            guard let number = Int(text[text.index(after: plus)...]), number > 0 else {
                throw Failure(
                    reason: "after + comes how many requests it lets pass, from 1 on, before any *: \(argument)"
                )
            }
            skipping = number
            text = text[..<plus]
        }
        var endpoint: Sandbox.Endpoint?
        if let colon = text.firstIndex(of: ":") {
            endpoint = try Self.endpoint(String(text[..<colon]))
            text = text[text.index(after: colon)...]
        }
        rule = Sandbox.FaultRule(try Self.fault(String(text)), on: endpoint, skipping: skipping, count: count)
    }

    private static func endpoint(_ name: String) throws(Failure) -> Sandbox.Endpoint {
        if let endpoint = Sandbox.Endpoint(rawValue: name) { return endpoint }
        throw unknown("endpoint", name, Sandbox.Endpoint.allCases.map(\.rawValue))
    }

    private static func unknown(_ kind: String, _ name: String, _ known: [String]) -> Failure {
        // What stands in angle brackets is not part of the name.
        let names = known.map { String($0.prefix { $0 != "<" }) }
        let meant = names.nearest(to: name).map { " did you mean \($0)?" } ?? ""
        return Failure(reason: "unknown \(kind) \"\(name)\";\(meant) known are \(known.joined(separator: ", "))")
    }

    private static func fault(_ text: String) throws(Failure) -> Sandbox.Fault {
        let name = String(text.prefix { $0.isLetter })
        let digits = text.dropFirst(name.count).prefix { $0 != "=" }
        let number = Int(digits)
        let word = text.firstIndex(of: "=").map { String(text[text.index(after: $0)...]) }
        guard digits.isEmpty || digits.allSatisfy(\.isNumber) && number != nil else {
            throw unknown("fault", text, faults)
        }
        if name == "badChunkSize" {
            return .badChunkSize(try word.map(mistake) ?? .notHexadecimal, afterBodyBytes: number ?? 0)
        }
        guard word == nil else { throw unknown("fault", text, faults) }
        switch (name, number) {
        case ("expireToken", nil): return .expireToken
        case ("refuseToken", nil): return .refuseToken
        case ("refuseFreshToken", nil): return .refuseFreshToken
        case ("lostLogout", nil): return .lostLogout
        case ("lateLogout", let milliseconds?): return .lateLogout(.milliseconds(milliseconds))
        case ("holdAnswer", nil): return .holdAnswer
        case ("closeAfterAnswer", nil): return .closeAfterAnswer
        case ("reset", nil): return .reset
        case ("resetAfterExecution", nil): return .resetAfterExecution
        case ("restart", nil): return .restart
        case ("fullHost", nil): return .fullHost
        case ("brokenJSON", nil): return .brokenJSON
        case ("html", let status): return .html(status: try Self.status(status ?? 502, of: name))
        case ("empty", let status): return .empty(status: try Self.status(status ?? 503, of: name))
        case ("delay", let milliseconds?): return .delay(.milliseconds(milliseconds))
        case ("cut", let bytes): return .cut(afterBodyBytes: bytes ?? 0)
        case ("cutAnswer", let bytes): return .cutAnswer(afterBytes: bytes ?? 0, framing: .contentLength)
        case ("cutChunked", let bytes): return .cutAnswer(afterBytes: bytes ?? 0, framing: .chunked)
        case ("error", let code?): return .error(FileMakerError(code))
        case ("delay", nil): throw Failure(reason: "delay takes milliseconds: delay250")
        case ("lateLogout", nil): throw Failure(reason: "lateLogout takes milliseconds: lateLogout250")
        case ("error", nil): throw Failure(reason: "error takes a FileMaker error code: error401")
        case (_, _?) where faults.contains(name): throw Failure(reason: "\(name) takes no number")
        default: throw unknown("fault", text, faults)
        }
    }

    private static func mistake(_ name: String) throws(Failure) -> Sandbox.ChunkSizeMistake {
        if let mistake = Sandbox.ChunkSizeMistake(rawValue: name) { return mistake }
        throw unknown("mistake", name, Sandbox.ChunkSizeMistake.allCases.map(\.rawValue))
    }

    /// Statuses of final answers; one below 200 would leave the client waiting for another.
    private static func status(_ number: Int, of name: String) throws(Failure) -> Int {
        guard (200...599).contains(number) else { throw Failure(reason: "\(name) takes a status from 200 to 599") }
        return number
    }
}

import FMSandbox

/// A fault on the command line: `find:html502+1*2`.
struct FaultArgument {
    let rule: Sandbox.FaultRule

    /// The error in a fault, with the valid alternatives.
    struct Failure: Error, Equatable {
        var reason: String
    }

    /// The notations of all faults, for texts.
    static let faults = Sandbox.Fault.notations.map(\.form)

    static let mistakes = Sandbox.ChunkSizeMistake.allCases.map(\.rawValue)

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
        // The part in angle brackets is not part of the name.
        let names = known.map { String($0.prefix { $0 != "<" }) }
        let meant = names.nearest(to: name).map { " did you mean \($0)?" } ?? ""
        return Failure(reason: "unknown \(kind) \"\(name)\";\(meant) known are \(known.joined(separator: ", "))")
    }

    private static func fault(_ text: String) throws(Failure) -> Sandbox.Fault {
        let name = String(text.prefix { $0.isLetter })
        let digits = text.dropFirst(name.count).prefix { $0 != "=" }
        let number = Int(digits)
        let word = text.firstIndex(of: "=").map { String(text[text.index(after: $0)...]) }
        guard digits.isEmpty || digits.allSatisfy(\.isNumber) && number != nil,
            let notation = Sandbox.Fault.notations.first(where: { $0.name == name })
        else { throw unknown("fault", text, faults) }
        switch (notation.parameter, number, word) {
        case (.nothing(let fault), nil, nil): return fault
        case (.nothing, _, nil): throw Failure(reason: "\(name) takes no number")
        case (.milliseconds(let make), let number?, nil): return make(.milliseconds(number))
        case (.milliseconds, nil, nil): throw Failure(reason: "\(name) takes milliseconds: \(name)250")
        case (.errorCode(let make), let number?, nil): return make(number)
        case (.errorCode, nil, nil): throw Failure(reason: "\(name) takes a FileMaker error code: \(name)401")
        case (.status(let standard, let make), _, nil): return make(try status(number ?? standard, of: name))
        case (.bytes(let make), _, nil): return make(number ?? 0)
        case (.bytesAndMistake(let make), _, _): return make(number ?? 0, try word.map(mistake) ?? .notHexadecimal)
        default: throw unknown("fault", text, faults)
        }
    }

    private static func mistake(_ name: String) throws(Failure) -> Sandbox.ChunkSizeMistake {
        if let mistake = Sandbox.ChunkSizeMistake(rawValue: name) { return mistake }
        throw unknown("mistake", name, mistakes)
    }

    /// The status of a final answer. After one below 200, the client would wait for another.
    private static func status(_ number: Int, of name: String) throws(Failure) -> Int {
        guard (200...599).contains(number) else { throw Failure(reason: "\(name) takes a status from 200 to 599") }
        return number
    }
}

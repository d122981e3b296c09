import ArgumentParser
import FMSandbox

/// A fault on the command line: `find:html502+1*2`.
struct FaultArgument: ExpressibleByArgument {
    let rule: Sandbox.FaultRule

    init?(argument: String) {
        var text = argument[...]
        var count: Int? = 1
        if let star = text.lastIndex(of: "*") {
            let times = text[text.index(after: star)...]
            count = Int(times)
            guard times == "always" || count.map({ $0 > 0 }) ?? false else { return nil }
            text = text[..<star]
        }
        var skipping = 0
        if let plus = text.lastIndex(of: "+") {
            guard let number = Int(text[text.index(after: plus)...]), number > 0 else { return nil }
            skipping = number
            text = text[..<plus]
        }
        var endpoint: Sandbox.Endpoint?
        if let colon = text.firstIndex(of: ":") {
            guard let named = Sandbox.Endpoint(rawValue: String(text[..<colon])) else { return nil }
            endpoint = named
            text = text[text.index(after: colon)...]
        }
        guard let fault = Self.fault(String(text)) else { return nil }
        rule = Sandbox.FaultRule(fault, on: endpoint, skipping: skipping, count: count)
    }

    private static func fault(_ text: String) -> Sandbox.Fault? {
        let name = String(text.prefix { $0.isLetter })
        let digits = text.dropFirst(name.count)
        let number = Int(digits)
        guard digits.isEmpty || digits.allSatisfy(\.isNumber) && number != nil else { return nil }
        switch (name, number) {
        case ("expireToken", nil): return .expireToken
        case ("reset", nil): return .reset
        case ("resetAfterExecution", nil): return .resetAfterExecution
        case ("restart", nil): return .restart
        case ("fullHost", nil): return .fullHost
        case ("brokenJSON", nil): return .brokenJSON
        case ("html", let status): return isStatus(status ?? 502) ? .html(status: status ?? 502) : nil
        case ("empty", let status): return isStatus(status ?? 503) ? .empty(status: status ?? 503) : nil
        case ("delay", let milliseconds?): return .delay(.milliseconds(milliseconds))
        case ("cut", let bytes): return .cut(afterBodyBytes: bytes ?? 0)
        case ("error", let code?): return .error(FileMakerError(code))
        default: return nil
        }
    }

    /// Statuses of final answers; one below 200 would leave the client waiting for another.
    private static func isStatus(_ number: Int) -> Bool { (200...599).contains(number) }
}

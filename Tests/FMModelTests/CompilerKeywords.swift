import Foundation

/// The words that have a meaning for the compiler, contextual keywords included.
///
/// Source: `enum Keyword` of swift-syntax, from which the compiler's parser is built, as of Swift 6.3.
enum CompilerKeywords {
    static let all = [
        "Any", "Protocol", "Self", "Sendable", "Type", "_BridgeObject", "_Class", "_NativeClass",
        "_NativeRefCountedObject", "_PackageDescription", "_RefCountedObject", "_Trivial", "_TrivialAtMost",
        "_TrivialStride", "_UnknownLayout", "__consuming", "__owned", "__setter_access", "__shared", "_backDeploy",
        "_borrow", "_borrowing", "_compilerInitialized", "_const", "_documentation", "_dynamicReplacement",
        "_effects", "_forward", "_implements", "_linear", "_local", "_modify", "_move", "_noMetadata",
        "_opaqueReturnTypeOf", "_originallyDefinedIn", "_read", "_specialize", "_spi_available", "_underlyingVersion",
        "_version", "abi", "accesses", "actor", "addressWithNativeOwner", "addressWithOwner", "any", "as",
        "assignment", "associatedtype", "associativity", "async", "attached", "autoclosure", "availability",
        "available", "await", "backDeployed", "before", "block", "borrow", "borrowing", "break", "canImport", "case",
        "catch", "class", "compiler", "consume", "consuming", "continue", "convenience", "convention", "copy",
        "default", "defer", "deinit", "deprecated", "derivative", "didSet", "differentiable", "discard",
        "distributed", "do", "dynamic", "each", "else", "enum", "escaping", "exported", "extension", "fallthrough",
        "false", "file", "fileprivate", "final", "for", "forward", "freestanding", "func", "get", "guard",
        "higherThan", "if", "import", "in", "indirect", "infix", "init", "initializes", "inout", "internal",
        "introduced", "is", "isolated", "kind", "lazy", "left", "let", "line", "linear", "lowerThan", "macro",
        "message", "metadata", "module", "mutableAddressWithNativeOwner", "mutableAddressWithOwner", "mutating",
        "nil", "noDerivative", "noasync", "noescape", "none", "nonisolated", "nonmutating", "nonsending", "objc",
        "obsoleted", "of", "open", "operator", "optional", "override", "package", "postfix", "precedencegroup",
        "preconcurrency", "prefix", "private", "protocol", "public", "reasync", "renamed", "repeat", "required",
        "rethrows", "retroactive", "return", "reverse", "right", "safe", "self", "sending", "set", "some",
        "specialized", "spi", "spiModule", "static", "struct", "subscript", "super", "swift", "switch", "target",
        "then", "throw", "throws", "transpose", "true", "try", "typealias", "unavailable", "unchecked", "unowned",
        "unsafe", "unsafeAddress", "unsafeMutableAddress", "using", "var", "visibility", "weak", "where", "while",
        "willSet", "wrt", "yield",
    ]

    /// The list of the toolchain that runs the tests; `nil` if the toolchain lacks its parser's interface.
    static func ofToolchain() throws -> [String]? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let compiler = folders.lazy.map { URL(fileURLWithPath: "\($0)/swiftc").resolvingSymlinksInPath() }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        guard let usr = compiler?.deletingLastPathComponent().deletingLastPathComponent() else { return nil }
        let module = usr.appendingPathComponent("lib/swift/host/SwiftSyntax.swiftmodule")
        let files = (try? FileManager.default.contentsOfDirectory(atPath: module.path)) ?? []
        guard let file = files.sorted().last(where: { $0.hasSuffix(".swiftinterface") && !$0.contains(".private.") })
        else {
            return nil
        }
        let interface = try String(contentsOf: module.appendingPathComponent(file), encoding: .utf8)
        guard let start = interface.firstRange(of: "public enum Keyword ") else { return nil }
        let cases = interface[start.upperBound...].prefix { $0 != "}" }
        return cases.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count == 2 && words[0] == "case" ? words[1].replacingOccurrences(of: "`", with: "") : nil
        }
    }
}

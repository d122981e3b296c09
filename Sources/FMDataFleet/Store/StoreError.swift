/// Why the store of a fleet did not do what it was asked for.
///
/// It contains no text of the store, which may repeat what was sent.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failures. New ones may be added: a `switch` over them needs a `default`.
    public struct Code: Hashable, Sendable {
        let name: String

        /// There is no connection: the host is not found, refuses, or has closed it.
        public static let unreachable = Code(name: "unreachable")
        /// No answer came in time. It is not known whether the command was carried out.
        public static let timeout = Code(name: "timeout")
        /// The store answered with an error; see ``StoreError/word``.
        public static let refused = Code(name: "refused")
        /// The answer is not one of Redis or Valkey, or not of the expected form.
        public static let malformed = Code(name: "malformed")
        /// No Sentinel answers and knows the store, or the process that they name is not the master, or not yet.
        public static let noMaster = Code(name: "noMaster")
        /// The fleet was shut down.
        public static let shutdown = Code(name: "shutdown")
    }

    /// The kind of failure.
    public let code: Code
    /// The first word of the store's error: `NOPERM`, `LOADING`, `OOM`.
    public let word: String?

    init(_ code: Code, word: String? = nil) {
        self.code = code
        self.word = word
    }

    /// The kind, and the store's word if there is one.
    public var description: String {
        ["The store of the fleet failed: \(code.name)", word].compactMap { $0 }.joined(separator: ", ") + "."
    }

    /// Whether the setup is wrong: the password, or the rights of the account.
    var isSetup: Bool { ["NOAUTH", "WRONGPASS", "NOPERM"].contains(word) }

    /// Whether another connection, perhaps to another process, is what helps.
    var needsAnotherConnection: Bool { ["READONLY", "MOVED", "UNBLOCKED", "MASTERDOWN"].contains(word) }
}

extension StoreError {
    static let unreachable = StoreError(.unreachable)
    static let timeout = StoreError(.timeout)
    static let malformed = StoreError(.malformed)
    static let noMaster = StoreError(.noMaster)
    static let shutdown = StoreError(.shutdown)
    init(_ error: RESPError) { self.init(.refused, word: error.word) }
}

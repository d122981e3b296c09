/// A FileMaker error code, as in `messages[0].code` and `scriptError`.
///
/// Any number is a code. The codes that Claris documents have a ``name``, and many a ``hint``; those that programs most
/// often decide by have a constant:
///
/// ```swift
/// do {
///     try await people.delete(999_999).firstValue()
/// } catch let error as FMRest.APIError {
///     switch error.fileMakerCode {
///     case .recordMissing: print("gone before")               // gone before
///     case .invalidToken: print("logged out")
///     case let code? where code.isValidation: print("refused: \(code)")
///     default: throw error
///     }
/// }
/// ```
///
/// An error that has a code (``FileMakerCodedError``) can be caught by it:
///
///     do { … } catch FileMakerErrorCode.modIdMismatch { … }
///
/// The code `401` means "no records match"; it has nothing to do with the HTTP status 401.
///
/// Source: Claris, "FileMaker error codes", edition 26.
public struct FileMakerErrorCode: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The number as FileMaker prints it. Negative for codes such as -1, "unknown error".
    public let rawValue: Int

    /// Creates the code with this number, documented or not.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Creates the code with this number, documented or not.
    public init(integerLiteral value: Int) {
        self.init(rawValue: value)
    }

    /// Creates a code from a message in an answer, where it is a text. `nil` when the text is no integer, which
    /// FileMaker never sends.
    public init?(wireText: String) {
        guard let number = Int(wireText) else { return nil }
        self.init(rawValue: number)
    }

    /// The meaning of the code in a few words, such as "record is missing". Unique among the documented codes, `nil`
    /// for all others.
    public var name: String? { row?.name }

    /// The code and its meaning as a text, also for undocumented codes: "FileMaker error 101: record is missing".
    public var summary: String {
        "FileMaker error \(rawValue): \(name ?? "not a documented code")"
    }

    /// The most common cause of the code in a Data API program and what to do about it: which privilege, which setting,
    /// which argument. `nil` where the name says it all.
    public var hint: String? { row?.hint }

    /// Whether the same request may succeed when it is sent again a little later. This holds for codes of a transient
    /// state that say that nothing was done: a lock held by another user (13, 300–304, 308, 310, 870), a lock lost
    /// during the request (307), a full or busy host (812, 956, 1638, 1701), a file that is closed for the moment
    /// (802), a window that was closed with its session (112), or FileMaker's own advice to retry (16).
    ///
    /// `false` for similar codes that need something else first: 306 and 512 (read the record again and decide), 952
    /// (log in, which a database does by itself), 953 (a limit of data per year, which waiting does not lift), 214
    /// (each further attempt prolongs the lock-out).
    public var isRetryable: Bool { passing != nil }

    /// Whether the host had no room for another session or connection (812, 956, 1638). The credentials are not at
    /// fault: wait before the next login and let idle sessions end. 953 is not included: it limits the data sent in a
    /// year, whatever sessions end.
    public var meansHostFull: Bool { passing == .fullHost }

    /// Whether the code by itself says that the session is closed (952). A lost window (112) can mean the same, but
    /// also a script's mistake: there the session's own history decides.
    public var meansSessionLost: Bool { self == .invalidToken }

    /// Whether a field refused a value (500–513).
    public var isValidation: Bool { category == .validation }
}

extension FileMakerErrorCode: Comparable {
    /// Orders codes by their numbers.
    public static func < (left: FileMakerErrorCode, right: FileMakerErrorCode) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension FileMakerErrorCode: CustomStringConvertible {
    /// The number and, where there is one, the name: "101 (record is missing)".
    public var description: String {
        name.map { "\(rawValue) (\($0))" } ?? "\(rawValue)"
    }
}

/// An error that may have a FileMaker code. `catch FileMakerErrorCode.recordInUse` works for errors of this protocol.
public protocol FileMakerCodedError: Error {
    /// The code that FileMaker gave; `nil` when the failure has another cause.
    var fileMakerCode: FileMakerErrorCode? { get }
}

/// Matches an error by its FileMaker code in `catch` and `switch`.
public func ~= (code: FileMakerErrorCode, error: any Error) -> Bool {
    (error as? any FileMakerCodedError)?.fileMakerCode == code
}

/// Matches an error by the ``FileMakerErrorCode/Category-swift.struct`` of its FileMaker code in `catch` and `switch`.
public func ~= (category: FileMakerErrorCode.Category, error: any Error) -> Bool {
    (error as? any FileMakerCodedError)?.fileMakerCode?.category == category
}

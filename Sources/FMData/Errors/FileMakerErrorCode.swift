/// A FileMaker error code. (Stand-in until the catalogue lands.)
public struct FileMakerErrorCode: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    public var rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }
    public init(integerLiteral value: Int) { rawValue = value }

    public var isRetryable: Bool { [300, 301, 303, 304, 812, 956].contains(rawValue) }
    public var meansSessionLost: Bool { rawValue == 952 }
    public var meansHostFull: Bool { [812, 953, 956].contains(rawValue) }
    public var hint: String? { nil }
}

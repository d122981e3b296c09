import Foundation

/// The state shared by all encoders and containers of one value: the rules, and the conversion of values to JSON.
final class EncodingContext {
    let options: EncodingOptions
    private let givenUserInfo: [CodingUserInfoKey: any Sendable]
    /// The content of `Encoder.userInfo`. It is lazy because few types use it and the context is made anew for each
    /// value.
    private(set) lazy var userInfo: [CodingUserInfoKey: any Sendable] = {
        let own: [CodingUserInfoKey: any Sendable] = [
            .fileMakerFormat: options.values.format, .fileMakerTimeZone: options.values.timeZone,
        ]
        return givenUserInfo.merging(own) { given, _ in given }
    }()
    private let recordEncoder: JSONEncoder?
    private lazy var identityNames = Result { try recordEncoder?.identityNames() ?? [:] }

    /// - Parameter recordEncoder: the user's own encoder for the fields of records and portal rows.
    init(options: EncodingOptions, userInfo: [CodingUserInfoKey: any Sendable], recordEncoder: JSONEncoder? = nil) {
        self.options = options
        self.recordEncoder = recordEncoder
        givenUserInfo = userInfo
    }

    /// The name of a member by its coding key.
    func name(_ key: String, _ mode: EncodingMode) -> String {
        let isIdentity = DataAPIName.isIdentity(key)
        switch (options.keys, mode) {
        case (.withTable, .row(let portal)) where !isIdentity && !key.contains("::"): return portal + "::" + key
        case (.custom(let convert), .row) where !isIdentity: return convert(key)
        case (.custom(let convert), .fields): return convert(key)
        case (.exact, _), (.withTable, _), (.custom, _): return key
        }
    }

    // MARK: Values

    func encode(_ value: Bool, into node: EncodedNode, _ mode: EncodingMode) {
        node.content = .literal(mode.holdsFields ? (value ? "1" : "0") : (value ? "true" : "false"))
    }

    func encode(_ value: String, into node: EncodedNode, _ mode: EncodingMode) {
        node.content = .text(mode.holdsFields && options.lineBreaks == .carriageReturns ? value.withReturns : value)
    }

    func encode(_ value: some BinaryInteger, into node: EncodedNode, _ mode: EncodingMode) {
        encode(literal: String(value), into: node, mode)
    }

    /// In a record, a number with more digits than a `Double` holds is written as text, which FileMaker accepts as
    /// well. A host that reads JSON with JavaScript would round it.
    private func encode(literal: String, into node: EncodedNode, _ mode: EncodingMode) {
        node.content = mode.holdsFields && !NumberText.isBinary(literal) ? .text(literal) : .literal(literal)
    }

    func encode(
        _ value: some BinaryFloatingPoint & LosslessStringConvertible,
        into node: EncodedNode,
        _ path: [any CodingKey]
    ) throws(EncodingFailure) {
        guard value.isFinite else { throw failure("a number that is not finite", path) }
        // The shortest digits that give the same number when they are read.
        let text = value.description
        node.content = .literal(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    func encodeNil(into node: EncodedNode, _ mode: EncodingMode) {
        node.content =
            if !mode.holdsFields { .literal("null") } else if options.nilValues == .omit { .omitted } else { .text("") }
    }

    func encode<T: Encodable>(
        _ value: T,
        into node: EncodedNode,
        _ mode: EncodingMode,
        _ path: [any CodingKey]
    ) throws {
        if let recordEncoder, mode.holdsFields {
            // That encoder also writes everything inside the value.
            let names = mode == .fields ? [:] : try identityNames.get()
            return try node.take(recordEncoder.encode(value), from: type(of: value), renaming: names, path)
        }
        let format = options.values.format
        switch value {
        case let text as String: encode(text, into: node, mode)
        case let number as FMNumber: encode(literal: number.literal, into: node, mode)
        case let number as Decimal:
            guard number.isFinite else { throw failure("a number that is not finite", path) }
            encode(literal: number.description, into: node, mode)
        case let date as Date where mode.holdsFields: node.content = .text(try text(date, format, path))
        case let date as FMDate: node.content = .text(date.text(format))
        case let time as FMTime: node.content = .text(time.text(format))
        case let timestamp as FMTimestamp: node.content = .text(timestamp.text(format))
        case let url as URL: node.content = .text(url.absoluteString)
        case let data as Data: node.content = .text(data.base64EncodedString())
        default:
            var encoder = ValueEncoder(context: self, node: node, mode: mode, codingPath: path)
            // Changes are the fields of a request or the whole value, so the many values inside a record are not
            // checked.
            encoder.leavesOutNil = path.count < 2 && value is any RecordChanges
            try value.encode(to: encoder)
        }
    }

    private func text(_ date: Date, _ format: ValueFormat, _ path: [any CodingKey]) throws(EncodingFailure) -> String {
        guard options.dates != .refuse else {
            throw failure("a Date may be meant for a date or a timestamp: use FMDate, @FMDateOnly or FMTimestamp", path)
        }
        guard let timestamp = FMTimestamp(date, in: options.values.timeZone) else {
            throw failure("a date outside the years 1 to 9999", path)
        }
        return options.dates == .days ? timestamp.date.text(format) : timestamp.text(format)
    }

    func failure(_ reason: String, _ path: [any CodingKey]) -> EncodingFailure {
        EncodingFailure(path: path.map(\.stringValue), reason: reason, underlying: nil)
    }
}

extension AsFields: Encodable where Value: Encodable {
    package func encode(to encoder: any Encoder) throws {
        try encoder.encode(value, as: .fields)
    }
}

extension AsPortals: Encodable where Value: Encodable {
    func encode(to encoder: any Encoder) throws {
        try encoder.encode(value, as: .portals)
    }
}

extension Encoder {
    fileprivate func encode(_ value: some Encodable, as mode: EncodingMode) throws {
        guard let own = self as? ValueEncoder else { return try value.encode(to: self) }
        own.node.mode = mode
        try own.context.encode(value, into: own.node, mode, own.codingPath)
    }
}

import Foundation

// Converts values on the tape to Swift values, as plain JSON or by FileMaker's rules.
extension DecodingContext {
    // MARK: Text

    @inline(__always)
    func string(_ node: UInt32, _ mode: Mode) throws -> String {
        let entry = entry(node)
        if entry.kind == .string { return document.text(entry) }
        return try stringFromOther(node, entry, mode)
    }

    private func stringFromOther(_ node: UInt32, _ entry: JSONTape.Entry, _ mode: Mode) throws -> String {
        guard mode == .fields, rules.contains(.textFromNumbers) else { throw mismatch(String.self, node) }
        switch entry.kind {
        case .number: return String(decoding: document.content(entry), as: UTF8.self)
        case .true: return "1"
        case .false: return "0"
        case .object, .array, .key, .string, .null: throw mismatch(String.self, node)
        }
    }

    // MARK: Numbers

    /// The text found where a number is wanted.
    private enum NumberSource {
        /// A JSON literal.
        case literal(UnsafeBufferPointer<UInt8>)
        /// A JSON number that was made from a text or boolean.
        case made(String)
        /// An empty field, or a text without a number in it.
        case empty
    }

    private func number(_ type: Any.Type, _ node: UInt32, _ mode: Mode) throws -> NumberSource {
        let entry = entry(node)
        if entry.kind == .number { return .literal(document.content(entry)) }
        switch entry.kind {
        case .string where mode == .kinds && type != FMNumber.self:
            guard rules.contains(.numbersFromText), isText(document.content(entry), of: type) else { break }
            return .literal(document.content(entry))
        case .string where mode.isField && entry.length == 0:
            guard rules.contains(.emptyIsNil) || rules.contains(.emptyIsZero) else { break }
            return .empty
        case .string where mode.isField && rules.contains(.numbersFromText):
            return try numberInText(type, node, entry)
        case .true where mode == .fields && rules.contains(.numbersFromText): return .made("1")
        case .false where mode == .fields && rules.contains(.numbersFromText): return .made("0")
        case .object, .array, .key, .string, .number, .true, .false, .null: break
        }
        throw mismatch(type, node)
    }

    /// The number in a text, read as FileMaker does if the type or the options say so.
    private func numberInText(_ type: any Any.Type, _ node: UInt32, _ entry: JSONTape.Entry) throws -> NumberSource {
        let content = document.content(entry)
        if NumberText.isLiteral(content) { return .literal(content) }
        var text = document.text(entry)
        let separator = options.values.decimalSeparator
        if let literal = text.withUTF8({ NumberText.literal(of: $0, separator: separator.byte) }) {
            return .made(literal)
        }
        if type == FMNumber.self || rules.contains(.numbersAsFileMaker) {
            return FMNumber(text, decimalSeparator: separator).map { .made($0.literal) } ?? .empty
        }
        if text.utf8.allSatisfy(NumberText.isSpace) { return .empty }
        guard text.utf8.contains(where: { $0 &- UInt8(ascii: "0") < 10 }) else {
            throw corrupted(node, .noNumber(wanted: type))
        }
        throw corrupted(node, .numberInText(wanted: type, hasLines: text.hasLineEnds))
    }

    /// Whether a text is exactly how a number of the type is written, so that it may be meant as one.
    private func isText(_ text: UnsafeBufferPointer<UInt8>, of type: any Any.Type) -> Bool {
        guard NumberText.isCanonical(text) else { return false }
        // The binary types must be able to represent all its digits.
        switch type {
        case is Double.Type: return NumberText.holds(text, NumberText.double)
        case is Float.Type: return NumberText.holds(text, NumberText.float)
        default: return true
        }
    }

    /// Reads a number; `nil` for an empty field.
    private func number<Number>(
        _ type: Number.Type,
        _ node: UInt32,
        _ mode: Mode,
        _ read: (UnsafeBufferPointer<UInt8>) -> Number?
    ) throws -> Number? {
        switch try number(type, node, mode) {
        case .literal(let text):
            guard let number = read(text) else { throw unfit(type, text, node) }
            return number
        case .made(var text):
            guard let number = text.withUTF8(read) else { throw text.withUTF8 { unfit(type, $0, node) } }
            return number
        case .empty:
            return nil
        }
    }

    /// Reads a number that is not optional.
    private func number<Number: Numeric>(
        _ type: Number.Type,
        _ node: UInt32,
        _ mode: Mode,
        orZero read: (UnsafeBufferPointer<UInt8>) -> Number?
    ) throws -> Number {
        if let number = try number(type, node, mode, read) { return number }
        guard rules.contains(.emptyIsZero) else { throw noNumber(type, node) }
        return 0
    }

    @inline(__always)
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, _ node: UInt32, _ mode: Mode) throws -> Integer {
        if let small = entry(node).smallInteger, let number = Integer(exactly: small) { return number }
        return try number(type, node, mode, orZero: { NumberText.integer($0, as: type) })
    }

    @inline(__always)
    func integerIfAny<Integer: FixedWidthInteger>(
        _ type: Integer.Type,
        _ node: UInt32,
        _ mode: Mode
    ) throws -> Integer? {
        if let small = entry(node).smallInteger, let number = Integer(exactly: small) { return number }
        return try ifAny(type, node) { try number(type, node, mode) { NumberText.integer($0, as: type) } }
    }

    @inline(__always)
    func double(_ node: UInt32, _ mode: Mode) throws -> Double {
        if let small = entry(node).smallDouble { return small }
        return try number(Double.self, node, mode, orZero: NumberText.double)
    }

    func doubleIfAny(_ node: UInt32, _ mode: Mode) throws -> Double? {
        try ifAny(Double.self, node) { try number(Double.self, node, mode, NumberText.double) }
    }

    func float(_ node: UInt32, _ mode: Mode) throws -> Float {
        try number(Float.self, node, mode, orZero: NumberText.float)
    }

    func floatIfAny(_ node: UInt32, _ mode: Mode) throws -> Float? {
        try ifAny(Float.self, node) { try number(Float.self, node, mode, NumberText.float) }
    }

    private func decimal(_ node: UInt32, _ mode: Mode) throws -> Decimal {
        try number(Decimal.self, node, mode, orZero: NumberText.decimal)
    }

    /// For an optional: a field without a number is `nil`, unless that rule is off.
    @inline(__always)
    private func ifAny<Number: Numeric>(
        _ type: Number.Type,
        _ node: UInt32,
        _ read: () throws -> Number?
    ) throws -> Number? {
        if let number = try read() { return number }
        if rules.contains(.emptyIsNil) { return nil }
        guard rules.contains(.emptyIsZero) else { throw noNumber(type, node) }
        return 0
    }

    private func noNumber(_ type: Any.Type, _ node: UInt32) -> DecodingError {
        isEmptyField(entry(node), .fields) ? emptyField(type, node) : corrupted(node, .noNumber(wanted: type))
    }

    private func unfit(_ type: Any.Type, _ literal: UnsafeBufferPointer<UInt8>, _ node: UInt32) -> DecodingError {
        let hasFraction = type is any FixedWidthInteger.Type && NumberText.canonical(literal).hasFraction
        return corrupted(node, hasFraction ? .fraction(wanted: type) : .tooLarge(wanted: type))
    }

    // MARK: Truth

    func bool(_ node: UInt32, _ mode: Mode) throws -> Bool {
        let entry = entry(node)
        switch entry.kind {
        case .true: return true
        case .false: return false
        case .number where mode == .fields && rules.contains(.booleansFromNumbers):
            return NumberText.isNonZero(document.content(entry))
        case .string where mode == .fields && rules.contains(.booleansFromNumbers):
            if isBlank(entry) { return false }
            switch try numberInText(Bool.self, node, entry) {
            case .literal(let text): return NumberText.isNonZero(text)
            case .made(var text): return text.withUTF8(NumberText.isNonZero)
            // FileMaker reads such a text as false, but a text like "yes" is hardly meant as false.
            case .empty: throw corrupted(node, .noNumber(wanted: Bool.self))
            }
        case .object, .array, .key, .string, .number, .null:
            throw mismatch(Bool.self, node)
        }
    }

    /// For an optional: an empty or blank field is `nil`, unless that rule is off.
    func boolIfAny(_ node: UInt32, _ mode: Mode) throws -> Bool? {
        let entry = entry(node)
        if entry.kind == .string, mode == .fields, rules.contains(.emptyIsNil), isBlank(entry) { return nil }
        return try bool(node, mode)
    }

    /// Whether a text is empty or has only white space.
    private func isBlank(_ entry: JSONTape.Entry) -> Bool {
        guard let first = document.content(entry).first else { return true }
        // White space may be escaped.
        guard NumberText.isSpace(first) || first == UInt8(ascii: "\\") else { return false }
        return document.text(entry).utf8.allSatisfy(NumberText.isSpace)
    }

    // MARK: Any type

    func decode<T: Decodable>(_ type: T.Type, _ node: UInt32, _ mode: Mode) throws -> T {
        if isForeign(node, mode) { return try decodeForeign(type, node) }
        if type == String.self { return cast(try string(node, mode)) }
        if type == FieldValue.self { return cast(try fieldValue(node)) }
        if type == Date.self, mode.isField, rules.contains(.datesFromText) { return cast(try date(node)) }
        if type == FMDate.self { return cast(try civil(FMDate.self, node, layouts.date)) }
        if type == FMTimestamp.self { return cast(try civil(FMTimestamp.self, node, layouts.timestamp)) }
        if type == FMTime.self { return cast(try civil(FMTime.self, node, layouts.time)) }
        if type == Decimal.self { return cast(try decimal(node, mode)) }
        if type == FMNumber.self { return cast(try fmNumber(node, mode)) }
        if type == URL.self { return cast(try url(node, mode)) }
        if type == Data.self { return cast(try data(node)) }
        return try make(type, node, mode)
    }

    /// For an optional: decodes a value that is there and not `null`.
    func decodeIfAny<T: Decodable>(_ type: T.Type, _ node: UInt32, _ mode: Mode) throws -> T? {
        let entry = entry(node)
        guard mode == .fields, entry.kind == .string else { return try decode(type, node, mode) }
        if type == FMDate.self || type == FMTimestamp.self, entry.length > 0 { return try decode(type, node, mode) }
        if type is any NumberValue.Type {
            if rules.contains(.emptyIsNil), try !holdsNumber(type, node) { return nil }
            return try decode(type, node, mode)
        }
        guard entry.length == 0, rules.contains(.emptyIsNil), list(node) == nil,
            rules.contains(.emptyTextIsNil) || !(type is any TextValue.Type)
        else {
            return try decode(type, node, mode)
        }
        // Returns without a failing attempt, whose error would be discarded.
        if isNeverEmpty(type) || type is any TextValue.Type || type is any FMListedValue.Type { return nil }
        // A type for which an empty text is a value gets it; for all others the field is empty.
        return try? decode(type, node, mode)
    }

    /// Whether the element type of a list has a value for an empty field.
    func hasEmptyValue(_ type: any Any.Type, _ node: UInt32) -> Bool {
        if type is any TextValue.Type || type is any OptionalValue.Type { return true }
        if type == Bool.self { return rules.contains(.booleansFromNumbers) }
        if type is any NumberValue.Type { return rules.contains(.emptyIsZero) }
        if isNeverEmpty(type) { return false }
        // Only the type itself can tell, so it is tried.
        guard let type = type as? any Decodable.Type else { return false }
        return isMade(type, node)
    }

    private func isMade<T: Decodable>(_ type: T.Type, _ node: UInt32) -> Bool {
        (try? decode(type, node, .fields)) != nil
    }

    /// Whether a type is known to have no value for an empty text.
    private func isNeverEmpty(_ type: Any.Type) -> Bool {
        type == FMDate.self || type == FMTimestamp.self || type == FMTime.self || type == URL.self
            || type == Date.self && rules.contains(.datesFromText)
    }

    /// Whether an optional number is `nil` for a text that is not empty, because the text contains no number.
    func lacksNumber(_ type: any Any.Type, _ node: UInt32) -> Bool {
        // This is the most frequent optional; it needs no lookup.
        guard type != String?.self, let number = (type as? any OptionalValue.Type)?.number else { return false }
        return (try? holdsNumber(number, node)) == false
    }

    /// Whether a text contains a number; for a boolean, whether it contains anything but white space.
    private func holdsNumber(_ type: Any.Type, _ node: UInt32) throws -> Bool {
        if type == Bool.self { return !isBlank(entry(node)) }
        if case .empty = try number(type, node, .fields) { return false }
        return true
    }

    /// Casts a value whose type is known to be the requested one.
    @inline(__always)
    private func cast<Known, T>(_ value: Known) -> T {
        unsafeBitCast(value, to: T.self)
    }

    private func fieldValue(_ node: UInt32) throws -> FieldValue {
        let entry = entry(node)
        switch entry.kind {
        case .string: return .text(document.text(entry))
        case .number: return .number(FMNumber(validLiteral: String(decoding: document.content(entry), as: UTF8.self)))
        case .true: return .number(1)
        case .false: return .number(0)
        case .null where !isGap(node): return .empty
        case .null, .object, .array, .key: throw mismatch(FieldValue.self, node)
        }
    }

    private func fmNumber(_ node: UInt32, _ mode: Mode) throws -> FMNumber {
        let number = try number(FMNumber.self, node, mode) {
            FMNumber(validLiteral: String(decoding: $0, as: UTF8.self))
        }
        if let number { return number }
        guard rules.contains(.emptyIsZero) else { throw noNumber(FMNumber.self, node) }
        return 0
    }

    @inline(__always)
    private func civil<Value: CivilValue>(
        _ type: Value.Type,
        _ node: UInt32,
        _ layout: CivilPattern.FixedLayout?
    ) throws -> Value {
        let entry = entry(node)
        if entry.kind == .string, entry.flags.isEmpty, let layout {
            var fields = CivilFields()
            if fields.readFixed(document.content(entry), layout), let value = Value(fields) { return value }
        }
        return try civil(type, node, forms: { [Value.pattern(of: $0)] }) { Value.read($0, $1, $2) }
    }

    /// - Parameters:
    ///   - type: the declared type, for errors.
    ///   - forms: the allowed forms, for errors.
    private func civil<Value>(
        _ type: any Any.Type,
        _ node: UInt32,
        forms: (ValueFormat) -> [CivilPattern],
        _ read: (UnsafeBufferPointer<UInt8>, ValueFormat, ValueOptions.ShortYears) -> Value?
    ) throws -> Value {
        let entry = entry(node)
        guard entry.kind == .string else { throw mismatch(type, node) }
        if entry.length == 0 { throw emptyField(type, node) }
        // Some servers escape the slashes of dates.
        var text = document.text(entry)
        let format = options.values.format
        guard let value = text.withUTF8({ read($0, format, options.values.shortYears) }) else {
            let forms = forms(format).map(\.description)
            throw corrupted(node, .otherForm(wanted: type, forms: forms, hasLines: text.hasLineEnds))
        }
        return value
    }

    /// A timestamp, or the first instant of a date.
    private func date(_ node: UInt32) throws -> Date {
        let entry = entry(node)
        var fields = CivilFields()
        let isFixed =
            entry.kind == .string && entry.flags.isEmpty
            && (layouts.timestamp.map { fields.readFixed(document.content(entry), $0) } ?? false)
        let timestamp =
            try (isFixed ? FMTimestamp(fields) : nil)
            ?? civil(Date.self, node, forms: { [$0.timestamp, $0.date] }) { text, format, shortYears in
                FMTimestamp.read(text, format, shortYears)
                    ?? FMDate.read(text, format, shortYears).map(FMTimestamp.init(midnightOf:))
            }
        return timestamp.instant(offset: wallClock.offset(at: timestamp.secondsSinceEpoch))
    }

    private func url(_ node: UInt32, _ mode: Mode) throws -> URL {
        let text = try string(node, mode)
        guard !text.isEmpty, let url = URL(string: text) else {
            if text.isEmpty, mode.isField { throw emptyField(URL.self, node) }
            throw corrupted(node, .unreadable(wanted: URL.self, form: "URL"))
        }
        return url
    }

    /// Base64, as with Foundation's decoder.
    private func data(_ node: UInt32) throws -> Data {
        guard entry(node).kind == .string else { throw mismatch(Data.self, node) }
        guard let data = Data(base64Encoded: document.text(entry(node))) else {
            throw corrupted(node, .unreadable(wanted: Data.self, form: "Base64"))
        }
        return data
    }
}

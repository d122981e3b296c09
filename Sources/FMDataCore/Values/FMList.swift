/// The values of a field with several values, one per line: a field with check boxes, or a list of keys.
///
/// ```swift
/// struct Person: Codable {
///     var interests: FMList<String>          // "Chess\rTea"
///     var friends: FMList<Int>               // "17\r4\r23", or the number 17
/// }
/// ```
///
/// Each line is read by the rules for a field of its type, so an empty line is `nil` for an optional element and an
/// error for a number. FileMaker ends lines with a carriage return; a line feed, or both, are read as well. A line end
/// at the very end does not begin another value, and an empty field has no values.
///
/// The list is written as text with carriage returns between the values; `nil` becomes an empty line. A value that
/// contains a line end, or that is a list or an object, cannot be written.
///
/// An array is different: it reads the repetitions of a repeating field.
public struct FMList<Element> {
    /// The values, in order.
    public var elements: [Element]

    /// Creates a list of values.
    public init(_ elements: some Sequence<Element>) {
        self.elements = Array(elements)
    }

    /// Creates a list without values: an empty field.
    public init() {
        elements = []
    }
}

extension FMList: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
    /// Always 0.
    public var startIndex: Int { elements.startIndex }
    /// The number of values.
    public var endIndex: Int { elements.endIndex }

    /// The value at a position.
    public subscript(position: Int) -> Element {
        get { elements[position] }
        set { elements[position] = newValue }
    }

    /// Replaces the values in a range.
    public mutating func replaceSubrange(_ range: Range<Int>, with values: some Collection<Element>) {
        elements.replaceSubrange(range, with: values)
    }
}

extension FMList: ExpressibleByArrayLiteral {
    /// Creates a list of the values in their written order.
    public init(arrayLiteral values: Element...) {
        elements = values
    }
}

extension FMList: Equatable where Element: Equatable {}
extension FMList: Hashable where Element: Hashable {}
extension FMList: Sendable where Element: Sendable {}

extension FMList: CustomStringConvertible {
    /// The description of the array of values.
    public var description: String { elements.description }
}

extension FMList: Decodable where Element: Decodable {
    /// Reads the lines of a text, or a number as the only value. With other decoders than FMData's own, the lines are
    /// read by the default rules, in the format of `userInfo[.fileMakerFormat]`.
    public init(from decoder: any Decoder) throws {
        if let own = decoder as? ValueDecoder {
            elements = try own.context.lines(own.node, of: Element.self)
            return
        }
        let text = try decoder.singleValueContainer().decode(FieldValue.self).text
        let json = WireValue.text(text).json
        let values = ValueOptions(format: decoder.fileMakerFormat, timeZone: decoder.fileMakerTimeZone)
        do {
            self = try FMDecoder(options: DecodingOptions(values: values)).decodeFields(FMList.self, from: json)
        } catch {
            throw error.underlying
        }
    }
}

extension FMList: Encodable where Element: Encodable {
    /// Writes the values as the lines of a text.
    ///
    /// - Throws: `EncodingFailure` for a value that contains a line end, or that is a list or an object.
    public func encode(to encoder: any Encoder) throws {
        if let own = encoder as? ValueEncoder {
            own.node.content = .text(try own.context.lines(elements, own.codingPath))
            return
        }
        let values = ValueOptions(format: encoder.fileMakerFormat, timeZone: encoder.fileMakerTimeZone)
        let context = EncodingContext(options: EncodingOptions(values: values), userInfo: [:])
        var container = encoder.singleValueContainer()
        try container.encode(try context.lines(elements, encoder.codingPath))
    }
}

// MARK: - Lines

extension DecodingContext {
    /// The elements read from the lines of a field.
    fileprivate func lines<Element: Decodable>(_ node: UInt32, of type: Element.Type) throws -> [Element] {
        let entry = entry(node)
        let lines: [UInt32]
        switch entry.kind {
        case .string: lines = self.lines(node, entry)
        case .number, .true, .false: lines = [add(.element(node))]
        case .object, .array, .key, .null: throw mismatch(FMList<Element>.self, node)
        }
        // Decoded as an array, so that optional elements get the rules of optionals.
        return try make([Element].self, add(.list(parent: node, key: nil, elements: lines)), .fields)
    }

    /// Each line of a text as a separate text, at its place in the buffer.
    private func lines(_ node: UInt32, _ entry: JSONTape.Entry) -> [UInt32] {
        let text = document.content(entry)
        var lines: [UInt32] = []
        var start = 0
        var position = 0
        while position < text.count {
            let length = JSONText.unitLength(text, at: position)
            guard let end = JSONText.lineEnd(text, at: position) else {
                position += length
                continue
            }
            lines.append(line(start..<position, lines.count, of: node, entry))
            position += length
            // A carriage return and a line feed are one line end.
            if end == 0x0D, position < text.count, JSONText.lineEnd(text, at: position) == 0x0A {
                position += JSONText.unitLength(text, at: position)
            }
            start = position
        }
        if start < text.count { lines.append(line(start..<text.count, lines.count, of: node, entry)) }
        return lines
    }

    private func line(_ range: Range<Int>, _ number: Int, of node: UInt32, _ entry: JSONTape.Entry) -> UInt32 {
        var line = entry
        line.offset += UInt32(truncatingIfNeeded: range.lowerBound)
        line.length = UInt32(truncatingIfNeeded: range.count)
        return add(.line(parent: node, key: DecodingKey(index: number), line))
    }
}

extension EncodingContext {
    /// Joins the values as the lines of a field.
    fileprivate func lines<Element: Encodable>(_ values: [Element], _ path: [any CodingKey]) throws -> String {
        try values.enumerated().map { index, value in
            let path = path + [DecodingKey(index: index)]
            let node = EncodedNode()
            try encode(value, into: node, .fields, path)
            let line: String
            switch node.content {
            case .text(let text), .literal(let text): line = text
            case .omitted: line = ""
            case .nothing, .object, .array: throw failure("a line of a list holds one value", path)
            }
            guard !line.hasLineEnds else {
                throw failure("a value in a list that has line ends itself, which would make it several", path)
            }
            return line
        }
        .joined(separator: "\r")
    }
}

/// A value of a value list. The type has a constant for each value of the list. Any other text is a value too, because
/// the host accepts and sends values that are in no list.
///
/// ```swift
/// struct Status: FMListedValue {
///     let rawValue: String
///     init(rawValue: String) { self.rawValue = rawValue }
///
///     static let open = Self(rawValue: "open")
///     static let closed = Self(rawValue: "closed")
///     static let listed: [Self] = [.open, .closed]
/// }
///
/// struct Ticket: Codable {
///     var status: Status?                     // a menu or radio buttons; an empty field is nil
///     var tags: FMList<Status>                // check boxes
/// }
/// ```
///
/// Generated records use it (<doc:Models>). Finds accept it like its text.
public protocol FMListedValue: RawRepresentable<String>, Codable, Hashable, DataAPI.FindValue {
    /// The values of the list, in its order.
    static var listed: [Self] { get }

    /// Creates a value from the content of a field, which may be a text that is not in the list.
    init(rawValue: String)
}

/// The fields of a record without a type of its own: names and values, in the order in which the server sent them.
///
/// ```swift
/// var person: FieldData = ["Name": "Ada", "Balance": 36]
/// person["Nicknames(2)"] = "Countess"
/// let made = try await people.layout.createRecord(person).firstValue()
///
/// let read = try await people.layout.record(id: made.recordId).returnAs(FieldData.self).firstValue()
/// print(read.data[0].fieldData["Nicknames(2)"]?.text ?? "")  // Countess
/// ```
///
/// Two values are equal if they have the same fields with the same values, in any order. If a name is given twice, the
/// last value is kept.
///
/// Names are compared by their bytes, because a file may have two fields whose names differ only in the Unicode form of
/// an accent. A name that occurs in one form only is found, and set, under every form.
public struct FieldData: Sendable {
    /// The names, in order.
    public private(set) var names: [String]
    private var values: [ExactName: FieldValue]

    /// Creates a value without fields.
    public init() {
        names = []
        values = [:]
    }

    /// Creates fields in the given order; if a name is given twice, the last value is kept.
    public init(_ fields: some Sequence<(String, FieldValue)>) {
        self.init()
        for (name, value) in fields { set(value, ExactName(name)) }
    }

    /// The value of a field by its name in the answer: `name`, `table::name`, `name(2)`; `nil` if there is no such
    /// field. Setting `nil` removes the field, so that it is not written at all; to clear a field, set
    /// ``FieldValue/empty``.
    public subscript(name: String) -> FieldValue? {
        get { values[ExactName(name)] ?? values[spelled(name)] }
        set {
            let name = spelled(name)
            if let newValue {
                set(newValue, name)
            } else if values.removeValue(forKey: name) != nil {
                names.removeAll { ExactName($0) == name }
            }
        }
    }

    /// The name as it is spelled here, if that differs in its Unicode form only.
    private func spelled(_ name: String) -> ExactName {
        let exact = ExactName(name)
        guard name.mayHaveOtherForms, values[exact] == nil else { return exact }
        return ExactName(names.first { $0 == name } ?? name)
    }

    private mutating func set(_ value: FieldValue, _ name: ExactName) {
        if values.updateValue(value, forKey: name) == nil { names.append(name.text) }
    }

    package mutating func reserveCapacity(_ count: Int) {
        names.reserveCapacity(count)
        values.reserveCapacity(count)
    }
}

extension FieldData: Sequence {
    /// The number of fields.
    public var count: Int { names.count }
    /// Whether there are no fields.
    public var isEmpty: Bool { names.isEmpty }
    /// The number of fields.
    public var underestimatedCount: Int { names.count }

    /// Returns an iterator over name and value of each field, in order.
    public func makeIterator() -> AnyIterator<(name: String, value: FieldValue)> {
        var names = names.makeIterator()
        return AnyIterator {
            guard let name = names.next() else { return nil }
            guard let value = values[ExactName(name)] else {
                preconditionFailure("every name has a value, because both are always changed together")
            }
            return (name: name, value: value)
        }
    }
}

extension FieldData: Hashable {
    /// Whether both have the same fields with the same values, in any order.
    public static func == (left: FieldData, right: FieldData) -> Bool { left.values == right.values }
    /// Hashes the fields independently of their order.
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

extension FieldData: ExpressibleByDictionaryLiteral {
    /// Creates fields in their written order: `["Name": "Ada", "Age": 36]`.
    public init(dictionaryLiteral elements: (String, FieldValue)...) { self.init(elements) }
}

extension FieldData: Codable {
    /// The name of a field that is known only at run time or written as a string.
    public struct CodingKeys: CodingKey, ExpressibleByStringLiteral, Hashable, Sendable {
        /// The name on the layout.
        public let stringValue: String
        /// `nil`: fields have names.
        public var intValue: Int? { nil }

        /// A field by its name on the layout.
        public init(stringValue: String) { self.stringValue = stringValue }
        /// A field by its name on the layout.
        public init(stringLiteral name: String) { stringValue = name }
        /// `nil`: fields have names.
        public init?(intValue: Int) { nil }
    }

    /// Reads all members of an object as fields. FMData's own decoder keeps their order.
    public init(from decoder: any Decoder) throws {
        self.init()
        // All keys and each value would be cast on their way through a container of the standard library.
        if let own = decoder as? ValueDecoder {
            try read(own.context.values(of: own.node, by: CodingKeys.self, own.mode))
        } else {
            try read(decoder.container(keyedBy: CodingKeys.self))
        }
    }

    private mutating func read<Container: KeyedDecodingContainerProtocol>(
        _ container: Container
    ) throws where Container.Key == CodingKeys {
        let keys = container.allKeys
        reserveCapacity(keys.count)
        for key in keys {
            let name = ExactName(key.stringValue)
            // If a name occurs twice, the first value counts.
            if values[name] == nil { set(try container.decode(FieldValue.self, forKey: key), name) }
        }
    }

    /// Writes the fields as the members of an object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        for (name, value) in self { try container.encode(value, forKey: CodingKeys(stringValue: name)) }
    }
}

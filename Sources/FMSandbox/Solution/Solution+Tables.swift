import Foundation

extension Solution {
    /// A table: fields and records.
    public struct Table: Codable, Sendable {
        /// The name of the table and of its first table occurrence.
        public var name: String
        /// The fields in their order of creation.
        public var fields: [Field]
        /// The records in their order of creation.
        public var records: [Record]
        /// The values of its global fields by name. A session uses them until it sets its own.
        public var globals: [String: String]
        /// The id of the next record. The default is one more than the last id. Ids are never used again, so it must be
        /// set if the table's last record was deleted.
        public var nextRecordId: Int?
        /// A CSV or JSON file next to the solution file, with further records. ``Solution/load(from:)`` moves them into
        /// ``records`` and sets this to nil.
        public var recordsFile: String?

        /// Creates a table with the given fields and records.
        public init(
            name: String,
            fields: [Field],
            records: [Record] = [],
            globals: [String: String] = [:],
            nextRecordId: Int? = nil,
            recordsFile: String? = nil
        ) {
            self.name = name
            self.fields = fields
            self.records = records
            self.globals = globals
            self.nextRecordId = nextRecordId
            self.recordsFile = recordsFile
        }

        enum CodingKeys: String, CodingKey, CaseIterable {
            case name, fields, records, globals, nextRecordId, recordsFile
        }

        /// Reads the documented JSON form.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            fields = try container.decode([Field].self, forKey: .fields)
            records = try container.decode([Record].self, forKey: .records, default: [])
            globals = try container.decode([String: LooseText].self, forKey: .globals, default: [:]).mapValues(\.text)
            nextRecordId = try container.decodeIfPresent(Int.self, forKey: .nextRecordId)
            recordsFile = try container.decodeIfPresent(String.self, forKey: .recordsFile)
        }
    }

    /// A record: values by field name. A repetition is named `Field(2)`. A container value is base64 text after
    /// `data:<type>;name=<file name>;base64,`.
    public struct Record: Codable, Sendable {
        /// The record id. If it is nil, the record gets the next free id.
        public var recordId: Int?
        /// The number of changes to the record. The default is 0.
        public var modId: Int
        /// Whether another user has the record open, so that writing to it is error 301.
        public var isLocked: Bool
        /// The values in FileMaker's display format: dates as `MM/dd/yyyy`, numbers as digits.
        public var values: [String: String]

        /// Creates a record with the given values.
        public init(recordId: Int? = nil, modId: Int = 0, isLocked: Bool = false, _ values: [String: String]) {
            self.recordId = recordId
            self.modId = modId
            self.isLocked = isLocked
            self.values = values
        }

        /// Reads an object of values. Numbers may be written without quotes. The keys `$recordId`, `$modId` and
        /// `$locked` are the record's other properties.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            self.init([:])
            for key in container.allKeys {
                switch key.stringValue {
                case "$recordId": recordId = try container.decode(Int.self, forKey: key)
                case "$modId": modId = try container.decode(Int.self, forKey: key)
                case "$locked": isLocked = try container.decode(Bool.self, forKey: key)
                default: values[key.stringValue] = try container.decode(LooseText.self, forKey: key).text
                }
            }
        }

        /// Writes the format that ``init(from:)`` reads.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encodeIfPresent(recordId, forKey: AnyKey(stringValue: "$recordId"))
            if modId != 0 { try container.encode(modId, forKey: AnyKey(stringValue: "$modId")) }
            if isLocked { try container.encode(true, forKey: AnyKey(stringValue: "$locked")) }
            for (name, value) in values { try container.encode(value, forKey: AnyKey(stringValue: name)) }
        }
    }

    /// The type of a field's content.
    public enum FieldType: String, Codable, Sendable, CaseIterable {
        /// Text of any length.
        case text
        /// A number of any length.
        case number
        /// A date.
        case date
        /// A time of day or a duration.
        case time
        /// A date and a time of day.
        case timestamp
        /// A file.
        case container
    }

    /// A field of a table.
    public struct Field: Codable, Sendable {
        /// The name.
        public var name: String
        /// The type of its content, or of the result of a calculation or a summary.
        public var type: FieldType
        /// The number of repetitions. The default is 1.
        public var repetitions: Int
        /// Whether all records share one value, which each session can set for itself.
        public var isGlobal: Bool
        /// The formula of a calculation field; see <doc:SolutionFiles> for the language.
        public var calculation: String?
        /// The summary it shows.
        package var summary: Summary?
        /// The value that a new or changed record gets automatically.
        public var autoEnter: AutoEnter?
        /// The next number of ``AutoEnter/serial``. The default is one more than the greatest number in the field, or 1
        /// if there is none.
        public var nextSerial: String?
        /// The rules for its values.
        public var validation: Validation
        /// Whether data entry may not change it (the option `prohibit modification of value during data entry`).
        public var prohibitsModification: Bool

        /// Creates a field of the given name and type.
        public init(
            _ name: String,
            _ type: FieldType = .text,
            repetitions: Int = 1,
            isGlobal: Bool = false,
            calculation: String? = nil,
            autoEnter: AutoEnter? = nil,
            nextSerial: String? = nil,
            validation: Validation = Validation(),
            prohibitsModification: Bool = false
        ) {
            self.name = name
            self.type = type
            self.repetitions = repetitions
            self.isGlobal = isGlobal
            self.calculation = calculation
            self.autoEnter = autoEnter
            self.nextSerial = nextSerial
            self.validation = validation
            self.prohibitsModification = prohibitsModification
        }

        /// Creates a field that summarises another one.
        package init(_ name: String, _ type: FieldType = .text, summary: Summary) {
            self.init(name, type)
            self.summary = summary
        }

        enum CodingKeys: String, CodingKey, CaseIterable {
            case name, type, repetitions, global, calculation, summary, autoEnter, nextSerial, validation
            case prohibitModification
        }

        /// Reads the documented JSON form; a plain string is a text field of that name.
        public init(from decoder: any Decoder) throws {
            if let name = try? decoder.singleValueContainer().decode(String.self) {
                self.init(name)
                return
            }
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            self.init(
                try container.decode(String.self, forKey: .name),
                try container.decodeChoiceIfPresent(FieldType.self, forKey: .type) ?? .text,
                repetitions: try container.decode(Int.self, forKey: .repetitions, default: 1),
                isGlobal: try container.decode(Bool.self, forKey: .global, default: false),
                calculation: try container.decodeIfPresent(String.self, forKey: .calculation),
                autoEnter: try container.decodeIfPresent(AutoEnter.self, forKey: .autoEnter),
                nextSerial: try container.decodeIfPresent(LooseText.self, forKey: .nextSerial)?.text,
                validation: try container.decode(Validation.self, forKey: .validation, default: Validation()),
                prohibitsModification: try container.decode(Bool.self, forKey: .prohibitModification, default: false)
            )
            summary = try container.decodeIfPresent(Summary.self, forKey: .summary)
        }

        /// Writes the format that ``init(from:)`` reads.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(type, forKey: .type)
            if repetitions != 1 { try container.encode(repetitions, forKey: .repetitions) }
            if isGlobal { try container.encode(true, forKey: .global) }
            try container.encodeIfPresent(calculation, forKey: .calculation)
            try container.encodeIfPresent(summary, forKey: .summary)
            try container.encodeIfPresent(autoEnter, forKey: .autoEnter)
            try container.encodeIfPresent(nextSerial, forKey: .nextSerial)
            if validation != Validation() { try container.encode(validation, forKey: .validation) }
            if prohibitsModification { try container.encode(true, forKey: .prohibitModification) }
        }
    }

    /// A summary over the records of the found set.
    package struct Summary: Codable, Sendable, Equatable {
        /// The function of a summary.
        package enum Function: String, Codable, Sendable, CaseIterable {
            /// The number of values that are not empty.
            case count
            /// The sum of the numbers.
            case total
            /// The smallest value.
            case minimum
            /// The greatest value.
            case maximum
        }

        /// The function.
        package var function: Function
        /// The field whose values it summarizes.
        package var field: String

        /// Creates a summary of a field.
        package init(_ function: Function, of field: String) {
            self.function = function
            self.field = field
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case function, field }

        /// Reads the documented JSON form.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            function = try container.decodeChoice(Function.self, forKey: .function)
            field = try container.decode(String.self, forKey: .field)
        }
    }

    /// The rules for the values of a field, with the FileMaker error of each.
    public struct Validation: Codable, Sendable, Equatable {
        /// The field must not be empty (509).
        public var notEmpty: Bool
        /// No other record may have the value (504).
        public var unique: Bool
        /// Another record must have the value (505).
        public var existing: Bool
        /// The smallest number or date allowed (503).
        public var minimum: String?
        /// The greatest number or date allowed (503).
        public var maximum: String?
        /// The maximum length of a text, in characters (511).
        public var maxCharacters: Int?
        /// The value must be one of this value list (506).
        public var valueList: String?
        /// The text must be a number (502).
        public var numeric: Bool
        /// A formula that must be true (507).
        public var calculation: String?

        /// Creates validation with the given rules. The default has none.
        public init(
            notEmpty: Bool = false,
            unique: Bool = false,
            existing: Bool = false,
            minimum: String? = nil,
            maximum: String? = nil,
            maxCharacters: Int? = nil,
            valueList: String? = nil,
            numeric: Bool = false,
            calculation: String? = nil
        ) {
            self.notEmpty = notEmpty
            self.unique = unique
            self.existing = existing
            self.minimum = minimum
            self.maximum = maximum
            self.maxCharacters = maxCharacters
            self.valueList = valueList
            self.numeric = numeric
            self.calculation = calculation
        }

        enum CodingKeys: String, CodingKey, CaseIterable {
            case notEmpty, unique, existing, minimum, maximum, maxCharacters, valueList, numeric, calculation
        }

        /// Reads the documented JSON form.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            notEmpty = try container.decode(Bool.self, forKey: .notEmpty, default: false)
            unique = try container.decode(Bool.self, forKey: .unique, default: false)
            existing = try container.decode(Bool.self, forKey: .existing, default: false)
            minimum = try container.decodeIfPresent(LooseText.self, forKey: .minimum)?.text
            maximum = try container.decodeIfPresent(LooseText.self, forKey: .maximum)?.text
            maxCharacters = try container.decodeIfPresent(Int.self, forKey: .maxCharacters)
            valueList = try container.decodeIfPresent(String.self, forKey: .valueList)
            numeric = try container.decode(Bool.self, forKey: .numeric, default: false)
            calculation = try container.decodeIfPresent(String.self, forKey: .calculation)
        }
    }
}

/// A text that may be written as a number in JSON.
struct LooseText: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self.text = text
        } else if let number = try? container.decode(Int.self) {
            text = String(number)
        } else {
            // `Double` would lose digits.
            let number = try container.decode(Decimal.self)
            text = FMNumber(literal: "\(number)")?.text ?? "\(number)"
        }
    }
}

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
        /// The values of its global fields, by name, for sessions that have set none of their own.
        public var globals: [String: String]
        /// The id of the next record. The default is one more than the last: ids are never used again, so a table whose last
        /// record is gone must say so.
        public var nextRecordId: Int?
        /// A CSV or JSON file beside the solution file that holds further records. ``Solution/load(from:)`` moves them into
        /// ``records`` and leaves nil here.
        public var recordsFile: String?

        /// A table with the given fields and records.
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

    /// One record: values by field name. A repetition is named `Field(2)`, a container value is base64 text after
    /// `data:<type>;name=<file name>;base64,`.
    public struct Record: Codable, Sendable {
        /// The record id. Without one the record gets the next free id.
        public var recordId: Int?
        /// How many times the record was changed. The default is 0.
        public var modId: Int
        /// Whether somebody else has the record open: writing to it answers 301.
        public var isLocked: Bool
        /// The values as FileMaker would show them: dates as `MM/dd/yyyy`, numbers as digits.
        public var values: [String: String]

        /// A record with the given values.
        public init(recordId: Int? = nil, modId: Int = 0, isLocked: Bool = false, _ values: [String: String]) {
            self.recordId = recordId
            self.modId = modId
            self.isLocked = isLocked
            self.values = values
        }

        /// Reads an object of values; numbers may stand without quotes, and the keys `$recordId`, `$modId` and `$locked`
        /// hold what is not a field.
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

        /// Writes what ``init(from:)`` reads.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encodeIfPresent(recordId, forKey: AnyKey(stringValue: "$recordId"))
            if modId != 0 { try container.encode(modId, forKey: AnyKey(stringValue: "$modId")) }
            if isLocked { try container.encode(true, forKey: AnyKey(stringValue: "$locked")) }
            for (name, value) in values { try container.encode(value, forKey: AnyKey(stringValue: name)) }
        }
    }

    /// What a field holds.
    public enum FieldType: String, Codable, Sendable, CaseIterable {
        /// Text of any length.
        case text
        /// A number of any length.
        case number
        /// A day.
        case date
        /// A time of day or a duration.
        case time
        /// A day and a time of it.
        case timestamp
        /// A file.
        case container
    }

    /// A field of a table.
    public struct Field: Codable, Sendable {
        /// The name.
        public var name: String
        /// The type of its content; of the result, for a calculation or a summary.
        public var type: FieldType
        /// How many repetitions it has. The default is 1.
        public var repetitions: Int
        /// Whether all records share one value, which each session may set for itself.
        public var isGlobal: Bool
        /// The formula of a calculation field; see <doc:SolutionFiles> for the language.
        public var calculation: String?
        /// The summary it shows.
        public var summary: Summary?
        /// What a new record or a changed one holds by itself.
        public var autoEnter: AutoEnter?
        /// The number that ``AutoEnter/serial`` gives next. The default is one more than the greatest in the field, 1 if there
        /// is none.
        public var nextSerial: String?
        /// What a value must fulfil.
        public var validation: Validation
        /// Whether data entry may not change it (`prohibit modification of value during data entry`).
        public var prohibitsModification: Bool

        /// A field of the given name and type.
        public init(
            _ name: String,
            _ type: FieldType = .text,
            repetitions: Int = 1,
            isGlobal: Bool = false,
            calculation: String? = nil,
            summary: Summary? = nil,
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
            self.summary = summary
            self.autoEnter = autoEnter
            self.nextSerial = nextSerial
            self.validation = validation
            self.prohibitsModification = prohibitsModification
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
                summary: try container.decodeIfPresent(Summary.self, forKey: .summary),
                autoEnter: try container.decodeIfPresent(AutoEnter.self, forKey: .autoEnter),
                nextSerial: try container.decodeIfPresent(LooseText.self, forKey: .nextSerial)?.text,
                validation: try container.decode(Validation.self, forKey: .validation, default: Validation()),
                prohibitsModification: try container.decode(Bool.self, forKey: .prohibitModification, default: false)
            )
        }

        /// Writes what ``init(from:)`` reads.
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
    public struct Summary: Codable, Sendable, Equatable {
        /// What is worked out.
        public enum Function: String, Codable, Sendable, CaseIterable {
            /// How many values are not empty.
            case count
            /// The sum of the numbers.
            case total
            /// The smallest value.
            case minimum
            /// The greatest value.
            case maximum
        }

        /// What is worked out.
        public var function: Function
        /// The field it is worked out of.
        public var field: String

        /// A summary of a field.
        public init(_ function: Function, of field: String) {
            self.function = function
            self.field = field
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case function, field }

        /// Reads the documented JSON form.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            function = try container.decodeChoice(Function.self, forKey: .function)
            field = try container.decode(String.self, forKey: .field)
        }
    }

    /// What a value must fulfil, with the FileMaker error of each rule.
    public struct Validation: Codable, Sendable, Equatable {
        /// The field may not be empty (509).
        public var notEmpty: Bool
        /// No other record may hold the value (504).
        public var unique: Bool
        /// Another record must hold the value (505).
        public var existing: Bool
        /// The smallest number or day allowed (503).
        public var minimum: String?
        /// The greatest number or day allowed (503).
        public var maximum: String?
        /// The longest text allowed, in characters (511).
        public var maxCharacters: Int?
        /// The value must be one of this value list (506).
        public var valueList: String?
        /// The text must be a number (502).
        public var numeric: Bool
        /// A formula that must be true (507).
        public var calculation: String?

        /// Validation with the given rules; none by default.
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
            // Not Double: it would lose digits.
            let number = try container.decode(Decimal.self)
            text = FMNumber(literal: "\(number)")?.text ?? "\(number)"
        }
    }
}

extension DataAPI.Layout {
    /// The metadata of a layout: its fields, its portals and the value lists that they use.
    ///
    /// Source: Claris Data API guide, "Get layout metadata".
    public struct LayoutMetaData: Hashable, Sendable {
        /// The fields on the layout, in the order of its objects.
        public var fieldMetaData: [FieldMetaData]
        /// The fields of each portal, by the portal's name, as in `portalData`.
        public var portalMetaData: [String: [FieldMetaData]]
        /// The names that several portals have. The name of a portal is its object name, or its table occurrence if it
        /// has none. Of portals with the same name, ``portalMetaData`` and the `portalData` of records contain only
        /// one. To distinguish them, give them object names in FileMaker.
        public var ambiguousPortals: [String] = []
        /// The value lists used by fields on the layout; `nil` if none is used. A list limited to related values is
        /// empty unless the metadata was requested for a record.
        public var valueLists: [ValueLists]?
        /// FileMaker's messages; see ``DataAPI/Message``.
        public var messages: [DataAPI.Message] {
            get { uncompared.messages }
            set { uncompared.messages = newValue }
        }
        private var uncompared = UncomparedMessages()

        /// Creates a value for tests and test doubles. The properties describe its parts.
        public init(
            fieldMetaData: [FieldMetaData],
            portalMetaData: [String: [FieldMetaData]] = [:],
            valueLists: [ValueLists]? = nil
        ) {
            self.fieldMetaData = fieldMetaData
            self.portalMetaData = portalMetaData
            self.valueLists = valueLists
        }

        /// One field on the layout.
        public struct FieldMetaData: Hashable, Sendable {
            /// The name of the field.
            public var name: String
            /// How the field gets its value.
            public var type: FieldType
            /// The control that shows the field; `nil` if the server does not send it.
            public var displayType: DisplayType?
            /// The type of the field's values.
            public var result: CalcResult
            /// The name of the value list of the field's control; `nil` if it has none.
            public var valueList: String?
            /// Whether it is a global field: one value is shared by all records of a session.
            public var global: Bool
            /// Whether FileMaker enters a value automatically.
            public var autoEnter: Bool
            /// Whether a date must have a year of four digits.
            public var fourDigitYear: Bool
            /// The number of repetitions of the field.
            public var maxRepeat: Int
            /// The greatest number of characters of a value; 0 means no limit.
            public var maxCharacters: Int?
            /// Whether an empty value fails validation.
            public var notEmpty: Bool
            /// Whether a value that is not a number fails validation.
            public var numeric: Bool
            /// Whether a time must lie within a day.
            public var timeOfDay: Bool
            /// The first repetition that the layout shows.
            public var repetitionStart: Int?
            /// The last repetition that the layout shows.
            public var repetitionEnd: Int?
            /// The number of repetitions that the layout shows.
            public var repetitions: Int?
        }

        /// A value list and its values.
        public struct ValueLists: Hashable, Sendable, Decodable {
            /// The name of the value list.
            public var name: String
            /// The kind of the list: `customList` or `byField`.
            public var type: String
            /// The values, in the list's order.
            public var values: [Value]

            /// One value of a list.
            public struct Value: Hashable, Sendable, Decodable {
                /// The stored value.
                public var value: String
                /// The value that users see.
                public var displayValue: String
            }
        }
    }
}

// Lists of these values are sorted by name.

extension DataAPI.Layout.LayoutMetaData.FieldMetaData: Comparable {
    /// Compares the names.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.name < rhs.name }
}

extension DataAPI.Layout.LayoutMetaData.ValueLists: Comparable {
    /// Compares the names.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.name < rhs.name }
}

extension DataAPI.Layout.LayoutMetaData.ValueLists.Value: Comparable {
    /// Compares the displayed values, then the stored values.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.displayValue, lhs.value) < (rhs.displayValue, rhs.value)
    }
}

extension DataAPI.Layout.LayoutMetaData.FieldMetaData {
    /// How a field gets its value. An unknown kind from a newer server keeps its name.
    public struct FieldType: RawRepresentable, Hashable, Sendable {
        /// The text in the answer.
        public let rawValue: String
        /// Creates a value from the text in an answer, also from one that this library does not know.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The field contains the entered value.
        public static let normal = Self(rawValue: "normal")
        /// A formula calculates the value.
        public static let calculation = Self(rawValue: "calculation")
        /// The value summarizes several records.
        public static let summary = Self(rawValue: "summary")
    }

    /// The control that shows a field. An unknown kind from a newer server keeps its name.
    public struct DisplayType: RawRepresentable, Hashable, Sendable {
        /// The text in the answer.
        public let rawValue: String
        /// Creates a value from the text in an answer, also from one that this library does not know.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A text box.
        public static let editText = Self(rawValue: "editText")
        /// A drop-down list that allows typing.
        public static let popupList = Self(rawValue: "popupList")
        /// A pop-up menu.
        public static let popupMenu = Self(rawValue: "popupMenu")
        /// A set of check boxes.
        public static let checkBox = Self(rawValue: "checkBox")
        /// A set of radio buttons.
        public static let radioButtons = Self(rawValue: "radioButtons")
        /// A selection list.
        public static let selectionList = Self(rawValue: "selectionList")
        /// A calendar.
        public static let calendar = Self(rawValue: "calendar")
        /// A box that conceals its text.
        public static let secureText = Self(rawValue: "secureText")
    }

    /// The type of a field's values. An unknown kind from a newer server keeps its name.
    public struct CalcResult: RawRepresentable, Hashable, Sendable {
        /// The text in the answer.
        public let rawValue: String
        /// Creates a value from the text in an answer, also from one that this library does not know.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Text.
        public static let text = Self(rawValue: "text")
        /// A number.
        public static let number = Self(rawValue: "number")
        /// A date.
        public static let date = Self(rawValue: "date")
        /// A time of day or a duration.
        public static let time = Self(rawValue: "time")
        /// A date with a time.
        public static let timeStamp = Self(rawValue: "timeStamp")
        /// A file, for example a picture or a sound.
        public static let container = Self(rawValue: "container")
    }
}

extension DataAPI.Layout.LayoutMetaData: Decodable {
    enum CodingKeys: CodingKey {
        case fieldMetaData, portalMetaData, valueLists
        /// The form of FileMaker Server 17.
        case metaData
    }

    /// Reads a server's response, also in the form of FileMaker Server 17. Counts may be text or numbers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let fields = try container.decodeIfPresent([FieldMetaData].self, forKey: .metaData) {
            fieldMetaData = fields
        } else {
            fieldMetaData = try container.decode([FieldMetaData].self, forKey: .fieldMetaData)
        }
        let portals = try container.decodeIfPresent(PortalFields.self, forKey: .portalMetaData)
        portalMetaData = portals?.fields ?? [:]
        ambiguousPortals = portals?.ambiguous ?? []
        valueLists = try container.decodeIfPresent([ValueLists].self, forKey: .valueLists)
    }
}

extension DataAPI.Layout.LayoutMetaData.FieldMetaData: Decodable {
    enum CodingKeys: CodingKey {
        case name, type, displayType, result, valueList, global, autoEnter, fourDigitYear, maxRepeat, maxCharacters
        case notEmpty, numeric, timeOfDay, repetitionStart, repetitionEnd, repetitions
    }

    /// Reads an entry of a server's response. Counts may be text or numbers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        type = FieldType(rawValue: try container.decode(String.self, forKey: .type))
        displayType = try container.decodeIfPresent(String.self, forKey: .displayType).map(DisplayType.init(rawValue:))
        result = CalcResult(rawValue: try container.decode(String.self, forKey: .result))
        valueList = try container.decodeIfPresent(String.self, forKey: .valueList)
        global = try container.decodeFlagIfPresent(forKey: .global)
        autoEnter = try container.decodeFlagIfPresent(forKey: .autoEnter)
        fourDigitYear = try container.decodeFlagIfPresent(forKey: .fourDigitYear)
        maxCharacters = try container.decodeWireIntegerIfPresent(forKey: .maxCharacters)
        notEmpty = try container.decodeFlagIfPresent(forKey: .notEmpty)
        numeric = try container.decodeFlagIfPresent(forKey: .numeric)
        timeOfDay = try container.decodeFlagIfPresent(forKey: .timeOfDay)
        // Servers send start and end, their own OpenAPI description has a count. The number shown is taken from either.
        let start = try container.decodeWireIntegerIfPresent(forKey: .repetitionStart)
        let end = try container.decodeWireIntegerIfPresent(forKey: .repetitionEnd)
        let shown = try container.decodeWireIntegerIfPresent(forKey: .repetitions)
        repetitionStart = start
        repetitionEnd = end
        repetitions = shown ?? end.map { $0 - (start ?? 1) + 1 }
        maxRepeat = try container.decodeWireIntegerIfPresent(forKey: .maxRepeat) ?? shown ?? 1
    }
}

extension KeyedDecodingContainer {
    /// A flag that newer servers send as a boolean and FileMaker Server 17 as `"true"` or `"false"`; absent is `false`.
    fileprivate func decodeFlagIfPresent(forKey key: Key) throws -> Bool {
        guard contains(key) else { return false }
        do {
            return try decode(Bool.self, forKey: key)
        } catch DecodingError.typeMismatch {
            return try decode(String.self, forKey: key) == "true"
        }
    }
}

extension DataAPI.Layout.LayoutMetaData: CustomReflectable {
    /// Shows the response in `print` and `dump`.
    public var customMirror: Mirror {
        mirror([
            "fieldMetaData": fieldMetaData, "portalMetaData": portalMetaData, "ambiguousPortals": ambiguousPortals,
            "valueLists": valueLists as Any,
        ])
    }
}

extension DataAPI.Layout.LayoutMetaData: DataAPIResponse {}

/// The fields of portals by the portals' names, and the ambiguous names. Those are equal names, which a `Decoder` does
/// not report, and names that differ in their Unicode form only, which are one key in a dictionary.
struct PortalFields: Decodable {
    private(set) var fields: [String: [DataAPI.Layout.LayoutMetaData.FieldMetaData]] = [:]
    /// Each name once, in order. With other decoders than the library's, equal names are missing.
    private(set) var ambiguous: [String] = []

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldData.CodingKeys.self)
        for name in Self.names(in: decoder) ?? container.allKeys.map(\.stringValue) {
            guard fields[name] == nil else {
                if !ambiguous.contains(name) { ambiguous.append(name) }
                continue
            }
            fields[name] = try container.decode(
                [DataAPI.Layout.LayoutMetaData.FieldMetaData].self,
                forKey: FieldData.CodingKeys(stringValue: name)
            )
        }
    }

    /// The names as they are in the text, including repeated ones; `nil` for other decoders.
    private static func names(in decoder: any Decoder) -> [String]? {
        guard let decoder = decoder as? ValueDecoder, decoder.context.entry(decoder.node).kind == .object else {
            return nil
        }
        let tape = decoder.context.view
        var names: [String] = []
        var index = decoder.node + 1
        while index < tape[decoder.node].link {
            names.append(tape.string(tape[index]))
            index = tape.end(of: index + 1)
        }
        return names
    }
}

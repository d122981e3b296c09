extension DataAPI.Layout {
    /// What a layout shows: its fields, its portals and the value lists they use.
    ///
    /// Source: Claris Data API guide, "Get layout metadata".
    public struct LayoutMetaData: Hashable, Sendable {
        /// The fields on the layout, in the order of its objects.
        public var fieldMetaData: [FieldMetaData]
        /// The fields of each portal, by the portal's name, as in `portalData`.
        public var portalMetaData: [String: [FieldMetaData]]
        /// The names that several portals have. Portals go by their object names, and those without one by their table
        /// occurrence; of those that share a name ``portalMetaData`` has one, and so has `portalData` of records. Object names of
        /// their own, given in FileMaker, tell them apart.
        public var ambiguousPortals: [String] = []
        /// The value lists that fields on the layout use; `nil` when none does. A list limited to related values is empty
        /// unless the metadata was asked for a record.
        public var valueLists: [ValueLists]?
        /// FileMaker's messages; see ``MessageCarrying``.
        @DataAPI.Aside public var messages: [DataAPI.Message] = []

        /// A value of your own making, for tests and doubles; see the properties for its parts.
        public init(
            fieldMetaData: [FieldMetaData],
            portalMetaData: [String: [FieldMetaData]] = [:],
            valueLists: [ValueLists]? = nil
        ) {
            self.fieldMetaData = fieldMetaData
            self.portalMetaData = portalMetaData
            self.valueLists = valueLists
        }

        /// One field as the layout shows it.
        public struct FieldMetaData: Hashable, Sendable {
            /// The name.
            public var name: String
            /// How the field gets its value.
            public var type: FieldType
            /// The control that shows the field; `nil` where the server does not say.
            public var displayType: DisplayType?
            /// The type of the field's values.
            public var result: CalcResult
            /// The value list of the field's control.
            public var valueList: String?
            /// Whether one value is shared by all records of a session.
            public var global: Bool
            /// Whether FileMaker enters a value by itself.
            public var autoEnter: Bool
            /// Whether a date needs a year of four digits.
            public var fourDigitYear: Bool
            /// How many repetitions the field has.
            public var maxRepeat: Int
            /// The most characters a value may have; 0 is no limit.
            public var maxCharacters: Int?
            /// Whether an empty value fails validation.
            public var notEmpty: Bool
            /// Whether a value that is no number fails validation.
            public var numeric: Bool
            /// Whether a time must lie within a day.
            public var timeOfDay: Bool
            /// The first repetition that the layout shows.
            public var repetitionStart: Int?
            /// The last repetition that the layout shows.
            public var repetitionEnd: Int?
            /// How many repetitions the layout shows.
            public var repetitions: Int?
        }

        /// A value list and its values.
        public struct ValueLists: Hashable, Sendable, Decodable {
            /// The name.
            public var name: String
            /// `customList` or `byField`.
            public var type: String
            /// The values, in the list's order.
            public var values: [Value]

            /// One value of a list.
            public struct Value: Hashable, Sendable, Decodable {
                /// What is stored.
                public var value: String
                /// What users see.
                public var displayValue: String
            }
        }
    }
}

// Lists of them sort by name.

extension DataAPI.Layout.LayoutMetaData.FieldMetaData: Comparable {
    /// By name.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.name < rhs.name }
}

extension DataAPI.Layout.LayoutMetaData.ValueLists: Comparable {
    /// By name.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.name < rhs.name }
}

extension DataAPI.Layout.LayoutMetaData.ValueLists.Value: Comparable {
    /// By what users see, then by what is stored.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.displayValue, lhs.value) < (rhs.displayValue, rhs.value)
    }
}

extension DataAPI.Layout.LayoutMetaData.FieldMetaData {
    /// How a field gets its value. A kind that a future server invents keeps its name.
    public struct FieldType: RawRepresentable, Hashable, Sendable {
        /// The text on the wire.
        public let rawValue: String
        /// By its text on the wire, also one that this library does not know yet.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The field holds what is entered.
        public static let normal = Self(rawValue: "normal")
        /// A formula gives the value.
        public static let calculation = Self(rawValue: "calculation")
        /// The value sums up several records.
        public static let summary = Self(rawValue: "summary")
    }

    /// The control that shows a field. A kind that a future server invents keeps its name.
    public struct DisplayType: RawRepresentable, Hashable, Sendable {
        /// The text on the wire.
        public let rawValue: String
        /// By its text on the wire, also one that this library does not know yet.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A text box.
        public static let editText = Self(rawValue: "editText")
        /// A drop-down list that can be typed into.
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

    /// The type of a field's values. A kind that a future server invents keeps its name.
    public struct CalcResult: RawRepresentable, Hashable, Sendable {
        /// The text on the wire.
        public let rawValue: String
        /// By its text on the wire, also one that this library does not know yet.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Text.
        public static let text = Self(rawValue: "text")
        /// A number.
        public static let number = Self(rawValue: "number")
        /// A date.
        public static let date = Self(rawValue: "date")
        /// A time of day or a span.
        public static let time = Self(rawValue: "time")
        /// A date with a time.
        public static let timeStamp = Self(rawValue: "timeStamp")
        /// A file, a picture, a sound.
        public static let container = Self(rawValue: "container")
    }
}

extension DataAPI.Layout.LayoutMetaData: Decodable {
    enum CodingKeys: CodingKey {
        case fieldMetaData, portalMetaData, valueLists
        /// The form of FileMaker Server 17.
        case metaData
    }

    /// Reads it as servers send it: ids, codes and counts as text or as numbers.
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

    /// Reads it as servers send it: ids, codes and counts as text or as numbers.
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
        // Servers send start and end, their own OpenAPI description a count: either says how many are shown.
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

extension DataAPI.Layout.LayoutMetaData: DataAPIResponse {}

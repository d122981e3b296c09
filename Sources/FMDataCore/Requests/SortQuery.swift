extension DataAPI {
    /// A field to sort by. An array sorts by its first field, and equal values by the next.
    ///
    ///     [SortQuery(fieldName: "City"), SortQuery(fieldName: "Joined", sortOrder: .descend)]
    ///
    /// Source: Claris Data API guide, "Get a range of records", parameter `_sort`.
    public struct SortQuery: Hashable, Sendable, Encodable {
        /// Ascending, descending, or in the order of a value list.
        public struct Order: Hashable, Sendable, Encodable {
            package let rawValue: String

            /// From small to large, from A to Z, from early to late.
            public static let ascend = Order(rawValue: "ascend")
            /// The reverse of ``ascend``.
            public static let descend = Order(rawValue: "descend")
            /// The same as ``ascend``, in Swift's spelling.
            public static let ascending = ascend
            /// The same as ``descend``, in Swift's spelling.
            public static let descending = descend

            /// The order of the values in a value list; values that are not in it come last.
            public static func valueList(_ name: String) -> Order { Order(rawValue: name) }

            /// Encodes the order as the Data API takes it.
            public func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(rawValue)
            }
        }

        /// The field, qualified with its table occurrence if it is not the layout's own.
        public var fieldName: String
        /// The direction.
        public var sortOrder: Order

        /// Creates a sort order from a field's name.
        ///
        /// - Parameters:
        ///   - fieldName: the field, qualified with its table occurrence if it is not the layout's own.
        ///   - sortOrder: the default is ascending.
        public init(fieldName: String, sortOrder: Order = .ascend) {
            self.fieldName = fieldName
            self.sortOrder = sortOrder
        }

        /// Creates a sort order from a field's coding key.
        ///
        /// - Parameters:
        ///   - field: the coding key of the field.
        ///   - sortOrder: the default is ascending.
        public init(_ field: some CodingKey, sortOrder: Order = .ascend) {
            self.init(fieldName: field.stringValue, sortOrder: sortOrder)
        }
    }
}

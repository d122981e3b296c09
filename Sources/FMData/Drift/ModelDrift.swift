extension DataAPI {
    /// How a layout differs from the type that its records are decoded into.
    ///
    ///     database.$modelDrifts.sink { drifts in … }              // as answers show it: Config.reportsModelDrift
    ///     people.layout.drift(of: Person.self)                    // when you ask
    public struct ModelDrift: Hashable, Sendable {
        /// The layout's name, as the database spells it.
        public var layout: String
        /// The name of the type.
        public var record: String
        /// Fields that the type has and the layout does not, in the order of the type's keys. If the property of such a
        /// field is optional, it is `nil`; if not, no record can be decoded.
        public var missing: [String]
        /// Fields that the layout has and the type does not, in the order of the layout. They make nothing fail.
        public var added: [String]

        /// Whether there is no difference.
        public var isEmpty: Bool { missing.isEmpty && added.isEmpty }

        /// Creates a value, for tests and doubles; see the properties for its parts.
        public init(layout: String, record: String, missing: [String] = [], added: [String] = []) {
            self.layout = layout
            self.record = record
            self.missing = missing
            self.added = added
        }
    }
}

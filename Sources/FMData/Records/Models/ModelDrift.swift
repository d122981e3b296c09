extension DataAPI {
    /// In what a layout differs from the type that its records are read into.
    ///
    ///     database.$modelDrifts.sink { drifts in … }              // as answers show it: Config.reportsModelDrift
    ///     people.layout.drift(of: Person.self)                    // when you ask
    public struct ModelDrift: Hashable, Sendable {
        /// The layout, as the database calls it.
        public var layout: String
        /// The name of the type.
        public var record: String
        /// Fields that the type has and the layout has not, in the order of the type's keys. A property of such a field is `nil`
        /// if it is optional; if not, no record can be read.
        public var missing: [String]
        /// Fields that the layout has and the type has not, in the order of the layout. Nothing of a program fails for them.
        public var added: [String]

        /// Whether there is no difference.
        public var isEmpty: Bool { missing.isEmpty && added.isEmpty }

        /// A value of your own making, for tests and doubles; see the properties for its parts.
        public init(layout: String, record: String, missing: [String] = [], added: [String] = []) {
            self.layout = layout
            self.record = record
            self.missing = missing
            self.added = added
        }
    }
}

extension DataAPI {
    /// A record as it was read, and as it is wanted: what ``TypedLayout/save(_:onConflict:refreshing:script:isolation:)`` finds
    /// the difference of.
    ///
    /// ```swift
    /// var draft = try await people.record(1).firstValue().draft()
    /// draft.notes = "Countess"
    /// draft.balance = nil                                         // clears the field
    /// draft.portals?.phones[0].number = "555-0100"
    /// let saved = try await people.save(draft).firstValue()
    /// print(saved.sentPortals)                                    // ["Phones"]
    /// ```
    ///
    /// The properties of the record's type are the draft's own. Rows of portals are changed in ``portals``: a row that is
    /// changed is edited, one without a recordId is added, one that is removed is deleted. Only rows that were read can be;
    /// those beyond the portal's limit stay as they are.
    ///
    /// It is a value: making and changing one sends nothing.
    @dynamicMemberLookup
    public struct Draft<R: RecordFields>: Sendable {
        /// The record as it was read.
        public let base: TypedLayout<R>.Record
        /// Its fields as they are wanted.
        public var fields: R
        /// The rows of its portals as they are wanted. `nil`, and an array in it that is `nil`, leaves the rows alone.
        public var portals: R.Portals?

        /// A draft of a record, in which nothing is changed yet.
        public init(_ record: TypedLayout<R>.Record) {
            base = record
            fields = record.fieldData
            portals = record.portalData
        }

        /// The record's id.
        public var recordId: Int { base.recordId }

        /// A property of the record's type.
        public subscript<Value>(dynamicMember property: WritableKeyPath<R, Value>) -> Value {
            get { fields[keyPath: property] }
            set { fields[keyPath: property] = newValue }
        }
    }
}

extension DataAPI.Draft {
    /// The record as it was read, and what the draft changes of it.
    func change(_ encoder: FMEncoder) throws -> (base: RecordImage, change: RecordChange) {
        let base = try RecordImage(of: self.base, encoder)
        let mine = try RecordImage(fields: fields, portals: portals, modId: base.modId, info: nil, encoder)
        // Of fields without a type those are written that are there, as everywhere.
        let keepsAbsent = R.self == FieldData.self
        return (base, try RecordChange(from: base, to: mine, keepsAbsent: keepsAbsent))
    }
}

extension DataAPI.Record where R: RecordFields, P == R.Portals {
    /// A draft of the record, to be changed and saved: ``DataAPI/Draft``.
    public func draft() -> DataAPI.Draft<R> { DataAPI.Draft(self) }
}

extension DataAPI.Draft: Equatable where R: Equatable, R.Portals: Equatable {}

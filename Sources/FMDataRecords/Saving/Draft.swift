public import FMDataCore

extension DataAPI {
    /// A record as it was read and as it is wanted: ``TypedLayout/save(_:onConflict:refreshing:script:isolation:)``
    /// writes the difference.
    ///
    /// ```swift
    /// var draft = try await people.record(id: 1).firstValue().draft()
    /// draft.notes = "Countess"
    /// draft.balance = nil                                         // clears the field
    /// draft.portals?.phones[0].number = "555-0100"
    /// let saved = try await people.save(draft).firstValue()
    /// print(saved.sentPortals)                                    // ["Phones"]
    /// ```
    ///
    /// The properties of the record's type are available on the draft. Portal rows are changed in ``portals``: a
    /// changed row is edited, a row without a recordId is added, a removed row is deleted. This applies only to rows
    /// that were read; rows beyond the portal's limit stay as they are.
    ///
    /// A draft is a value: making and changing one sends nothing.
    @dynamicMemberLookup
    public struct Draft<R: RecordFields>: Sendable {
        /// The record as it was read.
        public let base: TypedLayout<R>.Record
        /// The wanted fields.
        public var fields: R
        /// The wanted portal rows. If it is `nil`, or an array in it is `nil`, the rows stay as they are.
        public var portals: R.Portals?

        init(_ record: TypedLayout<R>.Record) {
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
    /// The record as it was read, and the changes of the draft.
    func change(_ encoder: FMEncoder) throws -> (base: RecordImage, change: RecordDiff) {
        let base = try RecordImage(of: self.base, encoder)
        let mine = try RecordImage(fields: fields, portals: portals, modId: base.modId, info: nil, encoder)
        // Fields without a type are written only if they are there, as everywhere.
        let keepsAbsent = R.self == FieldData.self
        return (base, try RecordDiff(from: base, to: mine, keepsAbsent: keepsAbsent))
    }
}

extension DataAPI.Record where R: RecordFields, P == R.Portals {
    /// Makes a draft of the record, to be changed and saved: ``DataAPI/Draft``.
    public func draft() -> DataAPI.Draft<R> { DataAPI.Draft(self) }
}

extension DataAPI.Draft: Equatable where R: Equatable, R.Portals: Equatable {}

/// Reads the answer of a request for records while it arrives. Each record can be taken as soon as its last byte has
/// arrived, and is not kept afterwards.
///
///     try reader.feed(chunk)
///     while let record = try reader.nextRecord() { … }      // as many as are wanted; the rest waits
///     …
///     let envelope = try reader.finish()                    // after the last chunk
///
/// Memory: the bytes fed and not yet taken, the text of one record and its tape.
package struct RecordResponseReader<R: Decodable, P: Decodable>: ~Copyable {
    typealias Record = DataAPI.Record<R, P>

    private var cutter: RecordCutter

    /// The number of records taken so far.
    var recordCount: Int { cutter.recordCount }
    /// The server's messages about the request; empty until that part of the answer has arrived, which usually is its
    /// end.
    var messages: [Message] { cutter.messages }
    /// The source of the records; `nil` until that part has arrived, which usually is before the first record.
    var dataInfo: DataAPI.DataInfo? { cutter.dataInfo }

    init(options: DecodingOptions = DecodingOptions()) {
        self.init(context: DecodingContext(options: options))
    }

    /// A reader that works with a context of ``DecodingContexts``.
    init(context: DecodingContext) {
        cutter = RecordCutter(context)
    }

    /// Ends the reader after ``finish()`` and returns its context, for ``DecodingContexts``.
    consuming func retire() -> DecodingContext { cutter.retire() }

    /// Appends more of the body without reading it.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        cutter.context.document.append(bytes)
    }

    /// The next record; `nil` if it has not arrived in full.
    ///
    /// - Throws: ``DecodingFailure``. After a record that cannot be decoded, the next one can still be read. After an
    ///   error in the JSON, every further call fails.
    mutating func nextRecord() throws(DecodingFailure) -> Record? {
        guard try cutter.nextRecord() else { return nil }
        return try takeRecord()
    }

    /// Appends all records that have arrived in full. The result is the same as calling ``nextRecord()`` until it
    /// returns `nil`, without the copy that an optional costs. It is generic over the collection because the type of an
    /// array would be looked up for each record.
    mutating func nextRecords<Records: RangeReplaceableCollection<Record>>(
        appendTo records: inout Records
    ) throws(DecodingFailure) {
        while try cutter.nextRecord() {
            records.append(try takeRecord())
        }
    }

    /// Appends all records that have arrived in full, including those that cannot be decoded.
    ///
    /// - Throws: ``DecodingFailure`` after an error in the JSON, and for a record without ids: an unreadable record is
    ///   identified by them.
    mutating func nextAttempts(appendTo records: inout [RecordAttempt<R, P>]) throws(DecodingFailure) {
        while try cutter.nextRecord() {
            defer { cutter.endRecord() }
            do {
                records.append(.record(try Record(readFrom: cutter.context)))
            } catch {
                let failure = DecodingFailure(error, in: cutter.context, recordNumber: cutter.recordCount)
                typealias Ids = DataAPI.Record<DataAPI.EmptyPortal, DataAPI.EmptyPortal>
                guard let ids = try? Ids(readFrom: cutter.context) else { throw failure }
                records.append(
                    .unreadable(
                        DataAPI.UnreadableRecord(recordId: ids.recordId, modId: ids.modId, failure: failure)
                    )
                )
            }
        }
    }

    /// Returns the rest of the answer, after its last byte was fed. Records not yet taken are skipped.
    ///
    /// - Throws: ``DecodingFailure`` if the body ends too early, if it is no Data API answer, or if it reports success
    ///   without any `data`.
    mutating func finish() throws(DecodingFailure) -> RecordResponseEnvelope {
        try cutter.finish()
    }

    /// The size in bytes of the buffer for text that has arrived and was not yet taken.
    var bufferCapacity: Int { cutter.context.document.capacity }

    @inline(__always)
    private mutating func takeRecord() throws(DecodingFailure) -> Record {
        defer { cutter.endRecord() }
        do {
            return try Record(readFrom: cutter.context)
        } catch {
            throw DecodingFailure(error, in: cutter.context, recordNumber: cutter.recordCount)
        }
    }
}

extension DataAPI.Record where R: Decodable, P: Decodable {
    /// The record on the tape of a context, read without a container of its own, with the same result as `init(from:)`.
    /// It runs for every record of a long answer. It is inlined so that its generic types are looked up only once.
    @inline(__always)
    init(readFrom context: DecodingContext) throws {
        let tape = context.view
        let head = tape[0]
        guard head.kind == .object, !head.flags.contains(.irregular) else {
            self = try context.decode(DataAPI.Record<R, P>.self, 0, .plain)
            return
        }
        var members = RecordMembers()
        var index: UInt32 = 1
        while index < head.link {
            members.take(tape[index], at: index + 1, tape)
            index = tape.end(of: index + 1)
        }
        func value(_ index: UInt32, _ name: String) throws -> UInt32 {
            guard index != 0 else { throw context.missing(DecodingKey(name), 0) }
            return index
        }
        func isPresent(_ index: UInt32) -> Bool { index != 0 && tape[index].kind != .null }

        fieldData = try context.decode(R.self, try value(members.fieldData, "fieldData"), .fields)
        portalData = isPresent(members.portalData) ? try context.decode(P.self, members.portalData, .portals) : nil
        // Every server sends both ids. Edits are addressed by them and checked against them, so they have no default.
        recordId = try context.wireInteger(try value(members.recordId, "recordId"))
        modId = try context.wireInteger(try value(members.modId, "modId"))
        portalDataInfo =
            isPresent(members.portalDataInfo)
            ? try context.decode([DataAPI.PortalDataInfo].self, members.portalDataInfo, .plain) : nil
    }
}

/// The places of a record's members on the tape; 0 for none.
private struct RecordMembers {
    package var fieldData: UInt32 = 0
    var portalData: UInt32 = 0
    var recordId: UInt32 = 0
    var modId: UInt32 = 0
    var portalDataInfo: UInt32 = 0

    /// Stores a member by its name. The length alone tells most of the names apart.
    @inline(__always)
    mutating func take(_ key: JSONTape.Entry, at value: UInt32, _ tape: TapeView) {
        switch key.length {
        case 5 where tape.isEqual(key, "modId"): modId = value
        case 8 where tape.isEqual(key, "recordId"): recordId = value
        case 9 where tape.isEqual(key, "fieldData"): fieldData = value
        case 10 where tape.isEqual(key, "portalData"): portalData = value
        case 14 where tape.isEqual(key, "portalDataInfo"): portalDataInfo = value
        default: break
        }
    }
}

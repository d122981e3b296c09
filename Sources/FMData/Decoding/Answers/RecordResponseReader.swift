/// Reads the answer of a request for records while it arrives: each record can be taken as soon as its last byte is there,
/// and nothing is kept of it afterwards.
///
///     try reader.feed(chunk)
///     while let record = try reader.nextRecord() { … }      // as many as are wanted; the rest waits
///     …
///     let envelope = try reader.finish()                    // after the last chunk
///
/// Memory: the bytes that were fed and not taken, the text of one record and its tape.
struct RecordResponseReader<R: Decodable, P: Decodable>: ~Copyable {
    typealias Record = DataAPI.Record<R, P>

    private var cutter: RecordCutter
    private let glance: ModelGlance?

    /// Records that were taken.
    var recordCount: Int { cutter.recordCount }
    /// What the server said about the request; empty until that part of the answer has arrived, which is the end of it
    /// as a rule.
    var messages: [Message] { cutter.messages }
    /// Where the records come from; `nil` until that part has arrived, which is before the first record as a rule.
    var dataInfo: DataAPI.DataInfo? { cutter.dataInfo }

    init(options: DecodingOptions = DecodingOptions()) {
        self.init(context: DecodingContext(options: options))
    }

    /// A reader that works with a context of ``DecodingContexts``.
    ///
    /// - Parameter glance: how to look at the first record; `nil` when nobody wants to know.
    init(context: DecodingContext, glance: ModelGlance? = nil) {
        self.glance = glance
        cutter = RecordCutter(context)
    }

    /// After ``finish()``: the context, for ``DecodingContexts``.
    consuming func retire() -> DecodingContext { cutter.retire() }

    /// Takes in more of the body. Nothing is read yet.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        cutter.context.document.append(bytes)
    }

    /// The next record; `nil` when it has not arrived in full.
    ///
    /// - Throws: ``DecodingFailure``. After a record that cannot be decoded the next one can be asked for all the same;
    ///   after a fault in the JSON every further call fails.
    mutating func nextRecord() throws(DecodingFailure) -> Record? {
        guard try cutter.nextRecord() else { return nil }
        return try takeRecord()
    }

    /// Appends all records that have arrived in full. The same as ``nextRecord()`` until there is none, without the copy
    /// that an optional costs; and for any collection, because the type of an array would be searched for each record.
    mutating func nextRecords<Records: RangeReplaceableCollection<Record>>(
        appendTo records: inout Records
    ) throws(DecodingFailure) {
        while try cutter.nextRecord() {
            records.append(try takeRecord())
        }
    }

    /// Appends all records that have arrived in full, those that cannot be decoded among them.
    ///
    /// - Throws: ``DecodingFailure`` after a fault in the JSON, and for a record without ids: nobody could do without it.
    mutating func nextAttempts(appendTo records: inout [RecordAttempt<R, P>]) throws(DecodingFailure) {
        while try cutter.nextRecord() {
            defer { cutter.endRecord() }
            if cutter.recordCount == 1 { glance?.look(at: cutter.context, as: R.self) }
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

    /// The rest of the answer, after its last byte was fed. Records that were not taken are skipped.
    ///
    /// - Throws: ``DecodingFailure`` when the body ends too early, when it is no Data API answer, or when it reports
    ///   success without any `data`.
    mutating func finish() throws(DecodingFailure) -> RecordResponseEnvelope {
        try cutter.finish()
    }

    /// Bytes of memory for text that has arrived and not been taken.
    var bufferCapacity: Int { cutter.context.document.capacity }

    @inline(__always)
    private mutating func takeRecord() throws(DecodingFailure) -> Record {
        defer { cutter.endRecord() }
        if cutter.recordCount == 1 { glance?.look(at: cutter.context, as: R.self) }
        do {
            return try Record(readFrom: cutter.context)
        } catch {
            throw DecodingFailure(error, in: cutter.context, recordNumber: cutter.recordCount)
        }
    }
}

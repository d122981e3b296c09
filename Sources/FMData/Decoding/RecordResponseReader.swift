/// Reads the answer of a request for records while it arrives: each record can be taken as soon as its last byte is there,
/// and nothing is kept of it afterwards.
///
///     try reader.feed(chunk)
///     while let record = try reader.nextRecord() { … }      // as many as are wanted; the rest waits
///     …
///     let envelope = try reader.finish()                    // after the last chunk
///
/// Memory: the bytes that were fed and not taken, the text of one record and its tape.
struct RecordResponseReader<R: Decodable, P: Decodable> {
    typealias Record = DataAPI.Record<R, P>

    /// Makes a record out of its JSON text, instead of FMData's own decoder.
    typealias RecordDecoding = (UnsafeRawBufferPointer) throws -> Record

    private let decodeRecord: RecordDecoding?
    private var context: DecodingContext
    private var scanner = AnswerScanner()

    /// Records that were taken.
    private(set) var recordCount = 0
    /// What the server said about the request; empty until that part of the answer has arrived, which is the end of it
    /// as a rule.
    private(set) var messages: [Message] = []
    /// Where the records come from; `nil` until that part has arrived, which is before the first record as a rule.
    private(set) var dataInfo: DataAPI.DataInfo?
    private var scripts = DataAPI.ScriptResponse()
    private var hasMessages = false

    /// - Parameter decodeRecord: For a `JSONDecoder` of the user's; see ``init(decoder:options:)``.
    init(
        options: DecodingOptions = DecodingOptions(),
        userInfo: [CodingUserInfoKey: any Sendable] = [:],
        decodeRecord: RecordDecoding? = nil
    ) {
        self.decodeRecord = decodeRecord
        context = DecodingContext(
            document: JSONDocument(limits: options.limits),
            options: options,
            userInfo: userInfo
        )
    }

    /// Takes in more of the body. Nothing is read yet.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        context.document.append(bytes)
    }

    /// The next record; `nil` when it has not arrived in full.
    ///
    /// - Throws: ``DecodingFailure``. After a record that cannot be decoded the next one can be asked for all the same;
    ///   after a fault in the JSON every further call fails.
    mutating func nextRecord() throws(DecodingFailure) -> Record? {
        guard try advance(isLast: false) == .record else { return nil }
        return try takeRecord()
    }

    /// Appends all records that have arrived in full. The same as ``nextRecord()`` until there is none, without the copy
    /// that an optional costs.
    mutating func nextRecords(appendTo records: inout [Record]) throws(DecodingFailure) {
        // Held here, so that it need not be for each step.
        var document = context.document
        while try advance(document, isLast: false) == .record {
            records.append(try takeRecord())
            if document !== context.document { document = context.document }
        }
    }

    /// The rest of the answer, after its last byte was fed. Records that were not taken are skipped.
    ///
    /// - Throws: ``DecodingFailure`` when the body ends too early, when it is no Data API answer, or when it reports
    ///   success without any `data`.
    mutating func finish() throws(DecodingFailure) -> RecordResponseEnvelope {
        while try advance(isLast: true) == .record { recordCount += 1 }
        guard hasMessages, scanner.hasResponse else {
            throw DecodingFailure(JSONSyntaxError(reason: .missingEnvelope, offset: 0))
        }
        if !scanner.hasData, messages.allSatisfy(\.isSuccess) {
            throw DecodingFailure(missing: DecodingKey("data"), in: DecodingKey("response"))
        }
        return RecordResponseEnvelope(
            messages: messages,
            dataInfo: dataInfo ?? .unreported(count: recordCount),
            scriptResponse: scripts.isEmpty ? nil : scripts,
            recordCount: recordCount
        )
    }

    /// Bytes of memory for text that has arrived and not been taken.
    var bufferCapacity: Int { context.document.capacity }

    // MARK: Steps

    /// Reads on to the next record or to the end, taking in what comes on the way.
    private mutating func advance(isLast: Bool) throws(DecodingFailure) -> AnswerScanner.Event {
        try advance(context.document, isLast: isLast)
    }

    private mutating func advance(
        _ document: JSONDocument,
        isLast: Bool
    ) throws(DecodingFailure) -> AnswerScanner.Event {
        while true {
            let event: AnswerScanner.Event
            do {
                event = try scanner.next(document, isLast: isLast)
            } catch {
                throw DecodingFailure(error)
            }
            switch event {
            case .starved, .record, .end:
                return event
            case .member(let level, let name):
                try take(name, of: level)
                // Somebody may have kept the old memory.
                if document !== context.document { return try advance(isLast: isLast) }
            }
        }
    }

    @inline(__always)
    private mutating func takeRecord() throws(DecodingFailure) -> Record {
        context.recordIndex = recordCount
        context.begin()
        recordCount += 1
        defer { endValue() }
        do {
            if let decodeRecord { return try decodeRecord(context.document.valueBytes) }
            return try Record(readFrom: context)
        } catch {
            throw DecodingFailure(error, in: context, recordNumber: recordCount)
        }
    }

    private mutating func take(_ name: String, of level: AnswerScanner.Level) throws(DecodingFailure) {
        context.recordIndex = nil
        context.memberPath = (level == .answer ? [] : [DecodingKey("response")]) + [DecodingKey(name)]
        context.begin()
        defer { endValue() }
        do {
            switch (level, name) {
            case (.answer, "messages"):
                messages = try context.decode([Message].self, 0, .plain)
                hasMessages = true
            case (.response, "dataInfo"):
                dataInfo = try context.decode(DataAPI.DataInfo.self, 0, .plain)
            case (.response, _) where DataAPI.ScriptResponse.owns(name):
                guard context.entry(0).kind != .null else { return }
                scripts.take(try context.string(0, .fields), named: name)
            case (.answer, _), (.response, _), (.data, _):
                break
            }
        } catch {
            throw DecodingFailure(error, in: context)
        }
    }

    /// Makes the memory ready for the next value. Somebody who still holds a decoder keeps the old memory.
    private mutating func endValue() {
        if isKnownUniquelyReferenced(&context) {
            context.end()
        } else {
            context = context.continuation()
        }
    }
}

/// What an answer says beside its records.
struct RecordResponseEnvelope: Hashable, Sendable {
    var messages: [Message]
    /// ``DataAPI/DataInfo/isReported`` is `false` when the server sent none.
    var dataInfo: DataAPI.DataInfo
    /// `nil` when no script left a result or an error.
    var scriptResponse: DataAPI.ScriptResponse?
    /// Records in the answer.
    var recordCount: Int
}

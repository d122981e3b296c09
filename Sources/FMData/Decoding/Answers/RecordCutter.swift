/// Cuts an answer into records while it arrives, and takes in what comes before, between and after them: the part of
/// ``RecordResponseReader`` that is the same for records of all types.
struct RecordCutter: ~Copyable {
    private var scanner = AnswerScanner()
    /// The record that was cut off last, while it is being decoded.
    private(set) var context: DecodingContext
    /// Records that were cut off.
    private(set) var recordCount = 0
    private(set) var messages: [Message] = []
    private(set) var dataInfo: DataAPI.DataInfo?
    private var scripts = DataAPI.ScriptResponse()
    private var hasMessages = false

    init(_ context: DecodingContext) {
        self.context = context
    }

    /// Reads on to the next record; `false` when it has not arrived in full, or when there is none any more.
    ///
    /// After `true` the record is on the tape of the context until ``endRecord()``.
    @inline(__always)
    mutating func nextRecord() throws(DecodingFailure) -> Bool {
        guard try advance(isLast: false) else { return false }
        context.recordIndex = recordCount
        recordCount += 1
        return true
    }

    /// The record was decoded.
    mutating func endRecord() {
        endValue()
    }

    /// After the end: the context, for ``DecodingContexts``.
    consuming func retire() -> DecodingContext { context }

    /// What the answer says beside its records, after its last byte. Records that were not asked for are skipped.
    mutating func finish() throws(DecodingFailure) -> RecordResponseEnvelope {
        while try advance(isLast: true) { recordCount += 1 }
        // A refusal may come without a response; a success has one.
        guard hasMessages, scanner.hasResponse || messages.contains(where: { !$0.isSuccess }) else {
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

    /// Reads on to the next record or to the end, taking in what comes on the way; whether there is a record.
    private mutating func advance(isLast: Bool) throws(DecodingFailure) -> Bool {
        while true {
            let event: AnswerScanner.Event
            do {
                event = try scanner.next(context.document, isLast: isLast)
            } catch {
                throw DecodingFailure(error)
            }
            switch event {
            case .record: return true
            case .starved, .end: return false
            case .member(let level, let name): try take(name, of: level)
            }
        }
    }

    private mutating func take(_ name: String, of level: AnswerScanner.Level) throws(DecodingFailure) {
        context.recordIndex = nil
        context.memberPath = (level == .answer ? [] : [DecodingKey("response")]) + [DecodingKey(name)]
        defer { endValue() }
        do {
            switch (level, name) {
            case (.answer, "messages"):
                messages = try Message.list(readFrom: context)
                hasMessages = true
            case (.response, "dataInfo"):
                dataInfo = try DataAPI.DataInfo.value(readFrom: context)
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

    /// Makes the memory ready for the next value. Somebody who still holds a decoder or a container keeps the old memory.
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

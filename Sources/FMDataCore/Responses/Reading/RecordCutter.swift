/// Cuts an answer into records while it arrives, and collects what comes before, between and after them. It is the part
/// of ``RecordResponseReader`` that does not depend on the type of the records.
struct RecordCutter: ~Copyable {
    private var scanner = AnswerScanner()
    /// Holds the latest record while it is decoded.
    private(set) var context: DecodingContext
    /// The number of records cut off so far.
    private(set) var recordCount = 0
    private(set) var messages: [Message] = []
    private(set) var dataInfo: DataAPI.DataInfo?
    private var scripts = DataAPI.ScriptResponse()
    private var hasMessages = false

    init(_ context: DecodingContext) {
        self.context = context
    }

    /// Reads on to the next record. Returns `false` if it has not arrived in full or if there are no more records.
    ///
    /// After `true`, the record stays on the tape of the context until ``endRecord()``.
    @inline(__always)
    mutating func nextRecord() throws(DecodingFailure) -> Bool {
        guard try advance(isLast: false) else { return false }
        context.recordIndex = recordCount
        recordCount += 1
        return true
    }

    /// Ends the current record, after it was decoded.
    mutating func endRecord() {
        endValue()
    }

    /// Ends the cutter after the answer's end and returns its context, for ``DecodingContexts``.
    consuming func retire() -> DecodingContext { context }

    /// Returns everything except the records, after the last byte. Records not yet asked for are skipped.
    mutating func finish() throws(DecodingFailure) -> RecordResponseEnvelope {
        while try advance(isLast: true) { recordCount += 1 }
        // An error answer may come without a response; a success has one.
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

    /// Reads on to the next record or to the end and handles the members on the way. Returns whether there is a record.
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

    /// Makes the memory ready for the next value. If a decoder or container still refers to the context, it keeps the
    /// old memory and a new context continues.
    private mutating func endValue() {
        if isKnownUniquelyReferenced(&context) {
            context.end()
        } else {
            context = context.continuation()
        }
    }
}

/// The parts of an answer except its records.
package struct RecordResponseEnvelope: Hashable, Sendable {
    var messages: [Message]
    /// ``DataAPI/DataInfo/isReported`` is `false` if the server sent none.
    package var dataInfo: DataAPI.DataInfo
    /// `nil` if no script left a result or an error.
    var scriptResponse: DataAPI.ScriptResponse?
    /// The number of records in the answer.
    var recordCount: Int
}

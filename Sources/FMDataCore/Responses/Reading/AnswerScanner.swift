/// Walks through an answer as its bytes arrive, down to `response.data`, and stops at each record and at each other
/// member of the two objects around it.
///
///     {"response": {"dataInfo": {…}, "data": [{…}, {…}, …], "scriptResult": "…"}, "messages": [{…}]}
///
/// It knows only the braces of these three levels. Everything inside a member or a record is read onto the tape of the
/// document. Members may come in any order.
struct AnswerScanner {
    enum Event: Equatable {
        /// The bytes ran out.
        case starved
        /// A record is on the tape.
        case record
        /// A member of the whole answer or of its `response` is on the tape.
        case member(Level, name: String)
        /// The answer is complete.
        case end
    }

    enum Level {
        case answer, response, data
    }

    /// What the grammar allows next on the current level.
    private enum Expectation {
        /// An optional byte order mark.
        case mark
        /// The beginning of the answer.
        case opening
        case firstKey
        case key
        case colon
        case value
        /// A record, or the end of an array that has none.
        case firstRecord
        /// A comma or the end of the level.
        case next
        /// Only white space.
        case nothing
    }

    private var level = Level.answer
    private var expectation = Expectation.mark
    private var isReadingValue = false
    private var name = ""
    /// Whether the answer has a `response.data` that is an array.
    private(set) var hasData = false
    private(set) var hasResponse = false

    /// Advances to the next event.
    mutating func next(_ document: JSONDocument, isLast: Bool) throws(JSONSyntaxError) -> Event {
        while true {
            if isReadingValue {
                guard try document.readValue(isLast: isLast) == .complete else { return .starved }
                isReadingValue = false
                if let event = finishValue(document) { return event }
                continue
            }
            if expectation == .mark {
                guard document.skipByteOrderMark() || isLast else { return .starved }
                expectation = .opening
            }
            guard let byte = document.nextByte() else {
                document.startValue()
                if expectation == .nothing { return .end }
                if isLast { throw document.syntaxError(.truncated, at: document.position) }
                return .starved
            }
            try take(byte, document)
        }
    }

    private mutating func take(_ byte: UInt8, _ document: JSONDocument) throws(JSONSyntaxError) {
        switch expectation {
        case .mark, .opening:
            guard byte == UInt8(ascii: "{") else { throw document.syntaxError(.missingEnvelope, at: document.position) }
            document.position += 1
            expectation = .firstKey
        case .firstKey where byte == UInt8(ascii: "}"):
            leave(document)
        case .firstKey, .key:
            guard byte == UInt8(ascii: "\"") else { throw unexpected(document) }
            beginValue(document)
        case .colon:
            guard byte == UInt8(ascii: ":") else { throw unexpected(document) }
            document.position += 1
            expectation = .value
        case .firstRecord where byte == UInt8(ascii: "]"):
            leave(document)
        case .firstRecord:
            expectation = .value
            beginValue(document)
        case .value:
            try takeValue(byte, document)
        case .next:
            let closing = level == .data ? UInt8(ascii: "]") : UInt8(ascii: "}")
            if byte == closing { return leave(document) }
            guard byte == UInt8(ascii: ",") else { throw unexpected(document) }
            document.position += 1
            expectation = level == .data ? .value : .key
        case .nothing:
            throw document.syntaxError(.trailingBytes, at: document.position)
        }
    }

    private mutating func takeValue(_ byte: UInt8, _ document: JSONDocument) throws(JSONSyntaxError) {
        switch (level, name) {
        case (.answer, "response"):
            guard !hasResponse else { throw document.syntaxError(.duplicateKey, at: document.position) }
            hasResponse = true
            guard byte == UInt8(ascii: "{") else { return beginValue(document) }
            enter(.response, .firstKey, document)
        case (.response, "data"):
            guard !hasData else { throw document.syntaxError(.duplicateKey, at: document.position) }
            guard byte == UInt8(ascii: "[") else { return beginValue(document) }
            hasData = true
            enter(.data, .firstRecord, document)
        case (.answer, _), (.response, _), (.data, _):
            beginValue(document)
        }
    }

    private mutating func beginValue(_ document: JSONDocument) {
        document.beginValue()
        isReadingValue = true
    }

    /// Returns the event for the value that was just read; `nil` for a key.
    private mutating func finishValue(_ document: JSONDocument) -> Event? {
        switch expectation {
        case .firstKey, .key:
            name = document.text(document[0])
            expectation = .colon
            return nil
        case .mark, .opening, .value, .colon, .firstRecord, .next, .nothing:
            expectation = .next
            return level == .data ? .record : .member(level, name: name)
        }
    }

    private mutating func enter(_ inner: Level, _ first: Expectation, _ document: JSONDocument) {
        document.position += 1
        level = inner
        expectation = first
    }

    private mutating func leave(_ document: JSONDocument) {
        document.position += 1
        switch level {
        case .data:
            level = .response
            expectation = .next
        case .response:
            level = .answer
            expectation = .next
        case .answer:
            expectation = .nothing
        }
    }

    private func unexpected(_ document: JSONDocument) -> JSONSyntaxError {
        document.syntaxError(.unexpectedByte, at: document.position)
    }
}

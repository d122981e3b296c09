/// One request and its response on one connection: what was sent, what has come, and what may be read next.
///
/// The two directions run side by side: a server may answer before the body is sent as a whole. Pure: time, channel and
/// bytes are the shell's.
struct RequestStateMachine: Equatable {
    private enum Upload: Equatable {
        /// A chunk is asked for and not yet there → `offered` while the channel is full, `done`.
        case pulling(remaining: Int)
        /// The channel is full; the next chunk is asked for when it is writable again → `pulling`.
        case blocked(remaining: Int)
        /// Everything is written.
        case done
    }

    private enum Download: Equatable {
        /// → `body`, or the end of the exchange.
        case head
        /// → the end of the exchange.
        case body(received: Int)
    }

    enum ChunkAction: Equatable {
        /// Write it, then ask for the next one.
        case writeAndPull
        /// Write it and wait until the channel is writable.
        case write
        /// Write it: it was the last.
        case writeLast
        case fail(Failure)
        case ignore
    }

    enum EndAction: Equatable {
        /// All is well. `isSent`: the request was written as a whole, so the connection is in step for another one.
        case succeed(isSent: Bool)
    }

    struct Failure: Error, Equatable {
        var code: HTTPClientError.Code
        var outcome: HTTPClientError.Outcome
        var detail: String?
    }

    /// What the exchange is waiting for, which says which time limit holds.
    enum Phase: Equatable {
        case sending
        case awaitingHead
        case receiving
        /// The subscriber has asked for nothing: no limit but the total one.
        case paused
    }

    private var upload: Upload
    private var download = Download.head
    private var isPaused = false
    private let maximumBodyBytes: Int

    /// - Parameter bodyLength: The bytes to send after the head; 0 when the head says it all.
    init(bodyLength: Int, maximumBodyBytes: Int) {
        upload = bodyLength == 0 ? .done : .blocked(remaining: bodyLength)
        self.maximumBodyBytes = maximumBodyBytes
    }

    var phase: Phase {
        switch (download, upload) {
        case (.body, _): isPaused ? .paused : .receiving
        case (.head, .done): .awaitingHead
        case (.head, .pulling), (.head, .blocked): .sending
        }
    }

    /// What the server may have done if the exchange ends now.
    var outcome: HTTPClientError.Outcome {
        switch download {
        case .head: .unknown
        case .body: .answered
        }
    }

    // MARK: Sending

    /// The channel takes bytes. Returns whether to ask for a chunk.
    mutating func becameWritable() -> Bool {
        switch upload {
        case .blocked(let remaining):
            upload = .pulling(remaining: remaining)
            return true
        case .pulling, .done:
            return false
        }
    }

    mutating func chunkOffered(count: Int, isWritable: Bool) -> ChunkAction {
        switch upload {
        case .pulling(let remaining) where count > remaining:
            return .fail(Failure(code: .bodyLengthMismatch, outcome: outcome))
        case .pulling(let remaining) where count == remaining:
            upload = .done
            return .writeLast
        case .pulling(let remaining) where isWritable:
            upload = .pulling(remaining: remaining - count)
            return .writeAndPull
        case .pulling(let remaining):
            upload = .blocked(remaining: remaining - count)
            return .write
        case .blocked(let remaining):
            // Nobody asked: a publisher that ignores demand. Its bytes are good, its order is kept by the channel.
            guard count < remaining else {
                upload = .done
                return count == remaining ? .writeLast : .fail(Failure(code: .bodyLengthMismatch, outcome: outcome))
            }
            upload = .blocked(remaining: remaining - count)
            return .write
        case .done:
            return count == 0 ? .ignore : .fail(Failure(code: .bodyLengthMismatch, outcome: outcome))
        }
    }

    /// The source has no more. Returns a failure when it is too early.
    mutating func sourceEnded() -> Failure? {
        switch upload {
        case .done: nil
        case .pulling, .blocked: Failure(code: .bodyLengthMismatch, outcome: outcome)
        }
    }

    // MARK: Receiving

    mutating func headReceived(bodyLength: ResponseParser.BodyLength) -> Failure? {
        download = .body(received: 0)
        if case .fixed(let length) = bodyLength, length > maximumBodyBytes {
            return Failure(code: .responseTooLarge, outcome: .answered)
        }
        return nil
    }

    mutating func bodyReceived(count: Int) -> Failure? {
        switch download {
        case .head:
            preconditionFailure("the parser gives the head first")
        case .body(let received):
            guard count <= maximumBodyBytes - received else {
                return Failure(code: .responseTooLarge, outcome: .answered)
            }
            download = .body(received: received + count)
            return nil
        }
    }

    mutating func endReceived() -> EndAction { .succeed(isSent: upload == .done) }

    // MARK: Demand

    /// All bytes of a read have been handed on. Returns whether to read again.
    mutating func readCompleted(subscriberWantsMore: Bool) -> Bool {
        switch download {
        case .head:
            return true
        case .body:
            isPaused = !subscriberWantsMore
            return subscriberWantsMore
        }
    }

    /// The subscriber asks for more. Returns whether to read: only when nothing is being read already.
    mutating func demanded() -> Bool {
        defer { isPaused = false }
        return isPaused
    }
}

/// One request and its response on one connection: what was sent, what has arrived, and whether to read.
///
/// Both directions run at the same time: a server may answer before the whole body is sent. Pure: time, channel and
/// bytes belong to the caller.
struct RequestStateMachine: Equatable {
    private enum Upload: Equatable {
        /// A chunk was requested and has not arrived → `blocked` if the channel is full, `done`.
        case pulling(remaining: Int)
        /// The channel is full; the next chunk is requested when it is writable again → `pulling`.
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
        /// Write it, then request the next one.
        case writeAndPull
        /// Write it and wait until the channel is writable.
        case write
        /// Write it: it was the last.
        case writeLast
        case fail(Failure)
        case ignore
    }

    enum EndAction: Equatable {
        /// The response is complete. `isSent`: the request was written completely, so the connection can take another
        /// one.
        case succeed(isSent: Bool)
    }

    struct Failure: Error, Equatable {
        var code: HTTPClientError.Code
        var outcome: HTTPClientError.Outcome
        var detail: String?
    }

    /// What the exchange is waiting for: this determines the time limit.
    enum Phase: Equatable {
        case sending
        case awaitingHead
        case receiving
        /// The subscriber has no demand: only the total limit exists, and it stands still.
        case paused
    }

    private var upload: Upload
    private var download = Download.head
    private var isPaused = false
    private let maximumBodyBytes: Int

    /// - Parameter bodyLength: The bytes to send after the head; 0 if the head is all.
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

    /// What is known of the request on the server if the exchange ends now.
    var outcome: HTTPClientError.Outcome {
        switch download {
        case .head: .unknown
        case .body: .answered
        }
    }

    // MARK: Sending

    /// The channel takes bytes again. Returns whether to request a chunk.
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
            // The chunk was not requested: the publisher ignores demand. It is written all the same; the channel keeps
            // the order.
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

    /// The source has finished. Returns a failure if it was too early.
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

    /// All bytes of a read have been delivered on. Returns whether to read again.
    mutating func readCompleted(subscriberWantsMore: Bool) -> Bool {
        switch download {
        case .head:
            return true
        case .body:
            isPaused = !subscriberWantsMore
            return subscriberWantsMore
        }
    }

    /// The subscriber has new demand. Returns whether to read: only if reading was paused.
    mutating func demanded() -> Bool {
        defer { isPaused = false }
        return isPaused
    }
}

import FMData
import Foundation
import NIOConcurrencyHelpers
import OpenCombine

/// Writes the files of a recording.
final class ExchangeWriter: Sendable {
    private let folder: RecordingFolder
    private let count = NIOLockedValueBox(0)

    init(_ folder: RecordingFolder) throws(RecordingError) {
        self.folder = folder
        try folder.make()
        guard try folder.files().isEmpty else {
            throw RecordingError("The folder \(folder.url.path) holds a recording already. Delete it first.")
        }
    }

    /// The parts of a response, which is written before its end is passed on. The client may cancel as soon as it has
    /// read the last byte of a JSON text, on another thread than the one that delivers the end; that response is
    /// written, too. One that was given up before is not.
    func writing(
        _ request: DataAPI.OutgoingRequest,
        _ parts: AnyPublisher<DataAPI.ResponsePart, FMRest.APIError>,
        _ redaction: Redaction
    ) -> AnyPublisher<DataAPI.ResponsePart, FMRest.APIError> {
        Deferred {
            let response = NIOLockedValueBox(ReceivedResponse())
            return
                parts
                .handleEvents(
                    receiveOutput: { part in response.withLockedValue { $0.take(part) } },
                    receiveCompletion: { end in
                        guard case .finished = end, let received = response.withLockedValue({ $0.end() }) else {
                            return
                        }
                        do throws(RecordingError) {
                            try self.write(RecordedExchange(request, received, redaction))
                        } catch {
                            response.withLockedValue { $0.refusal = error }
                        }
                    },
                    receiveCancel: {
                        guard let received = response.withLockedValue({ $0.end() }), received.isWholeJSON else {
                            return
                        }
                        // Nobody is left to be told of a folder that cannot be written; the next exchange tells.
                        try? self.write(RecordedExchange(request, received, redaction))
                    }
                )
                .append(
                    Deferred { () -> AnyPublisher<DataAPI.ResponsePart, FMRest.APIError> in
                        guard let refusal = response.withLockedValue({ $0.refusal }) else {
                            return Empty().eraseToAnyPublisher()
                        }
                        return Fail(error: FMRest.APIError(.invalidRequest, reason: refusal.description))
                            .eraseToAnyPublisher()
                    }
                )
        }
        .eraseToAnyPublisher()
    }

    private func write(_ exchange: RecordedExchange) throws(RecordingError) {
        let number = count.withLockedValue { count in
            count += 1
            return count
        }
        try folder.write(exchange.json.readableJSON, to: exchange.fileName(number))
    }
}

/// A response as far as it has arrived.
struct ReceivedResponse: Sendable {
    private(set) var status = 0
    private(set) var headers = DataAPI.Headers()
    private(set) var body = Data()
    private var hasEnded = false
    /// Why it could not be written.
    var refusal: RecordingError?

    /// The response when it ends first, by its last part or by a cancel; `nil` after that.
    mutating func end() -> ReceivedResponse? {
        guard !hasEnded else { return nil }
        hasEnded = true
        return self
    }

    var isWholeJSON: Bool { WireValue(reading: Array(body)) != nil }

    mutating func take(_ part: DataAPI.ResponsePart) {
        if let status = part.status { self.status = status }
        if let headers = part.headers { self.headers = headers }
        if let body = part.body { self.body += body }
    }
}

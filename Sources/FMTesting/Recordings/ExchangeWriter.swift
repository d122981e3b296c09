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

    /// The parts of a response, which is written before its end is passed on.
    func writing(
        _ request: DataAPI.OutgoingRequest,
        _ parts: AnyPublisher<DataAPI.ResponsePart, FMRest.APIError>,
        _ redaction: Redaction
    ) -> AnyPublisher<DataAPI.ResponsePart, FMRest.APIError> {
        Deferred {
            let response = NIOLockedValueBox(ReceivedResponse())
            return
                parts
                .handleEvents(receiveOutput: { part in response.withLockedValue { $0.take(part) } })
                .append(
                    Deferred { () -> AnyPublisher<DataAPI.ResponsePart, FMRest.APIError> in
                        do throws(RecordingError) {
                            try self.write(RecordedExchange(request, response.withLockedValue { $0 }, redaction))
                            return Empty().eraseToAnyPublisher()
                        } catch {
                            return Fail(error: FMRest.APIError(.invalidRequest, reason: error.description))
                                .eraseToAnyPublisher()
                        }
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

    mutating func take(_ part: DataAPI.ResponsePart) {
        if let status = part.status { self.status = status }
        if let headers = part.headers { self.headers = headers }
        if let body = part.body { self.body += body }
    }
}

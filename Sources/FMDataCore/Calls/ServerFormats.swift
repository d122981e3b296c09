import Foundation
package import OpenCombine

/// The date formats of a server, for ``DataAPI/DateFormats/server``: the first call that needs them requests them for
/// all.
final class ServerFormats: Sendable {
    /// The encoding and the reader that follow from the answer.
    struct KnownFormats {
        let encoding: EncodingOptions
        let reader: AnswerReader
    }

    private enum State {
        case unknown
        /// The subscription keeps the request going; it is set once it was made.
        case asking(Flight, AnyCancellable?)
        case known(KnownFormats)
    }

    private let state = Guarded(State.unknown)

    var known: KnownFormats? {
        state.withLock { if case .known(let known) = $0 { known } else { nil } }
    }

    /// Publishes one value once the formats are known, and requests them if they are not.
    func publisher(of server: DataAPI.Server) -> AnyPublisher<KnownFormats, FMRest.APIError> {
        let (answer, ask) = state.withLock { Self.answer(&$0) }
        if let (ask, flight) = ask {
            // The request is independent of its subscribers: one that cancels leaves the answer to the others.
            let subscription = server.perform { .productInfo() }
                .tryMap { try KnownFormats($0.productInfo, server) }
                .mapError { FMRest.APIError(wrapping: $0) }
                .sink(
                    receiveCompletion: { if case .failure(let error) = $0 { self.end(.failure(error), ask) } },
                    receiveValue: { self.end(.success($0), ask) }
                )
            state.withLock { state in
                // It may have failed already, and another thread may have sent the next request.
                if case .asking(let current, _) = state, current === flight { state = .asking(flight, subscription) }
            }
        }
        return answer
    }

    private typealias Flight = Future<KnownFormats, FMRest.APIError>
    private typealias Answer = (AnyPublisher<KnownFormats, FMRest.APIError>, ask: (Flight.Promise, Flight)?)

    private static func answer(_ state: inout State) -> Answer {
        switch state {
        case .known(let known):
            return (Just(known).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher(), nil)
        case .asking(let answer, _):
            return (answer.eraseToAnyPublisher(), nil)
        case .unknown:
            var promise: Flight.Promise?
            let answer = Flight { promise = $0 }
            state = .asking(answer, nil)
            return (answer.eraseToAnyPublisher(), promise.map { ($0, answer) })
        }
    }

    private func end(_ result: Result<KnownFormats, FMRest.APIError>, _ promise: Flight.Promise) {
        let before = state.withLock { state in
            defer { state = if case .success(let known) = result { .known(known) } else { .unknown } }
            return state
        }
        // The subscription is released outside of the lock.
        withExtendedLifetime(before) {}
        promise(result)
    }
}

extension ServerFormats.KnownFormats {
    fileprivate init(_ product: DataAPI.Server.ProductInfo, _ server: DataAPI.Server) throws(FMRest.APIError) {
        var config = server.config
        do {
            config.dateFormats = DataAPI.DateFormats(wireValue: nil, format: try product.valueFormat())
        } catch {
            throw FMRest.APIError(
                .decoding,
                reason: "The server's product information names no form of dates that can be used: \(error)",
                hint: "Say in config.dateFormats how it writes dates."
            )
        }
        encoding = config.encoding
        // The closure holds the time, not the server, which itself keeps this value.
        let time = server.time
        reader = AnswerReader(config: config) { time.date(time.now()) }
    }
}

extension DataAPI.Server {
    /// Returns a call that waits for the server's formats first, when it reads or writes dates and they are not known
    /// yet. The request for the formats is tried again by the call's own policy.
    package func knowingFormats<Response, Value>(
        _ call: AnyPublisher<Value, FMRest.APIError>,
        for response: Response.Type,
        _ options: CallContext
    ) -> AnyPublisher<Value, FMRest.APIError> {
        guard lacksFormats(for: response) else { return call }
        return OnDemandPublisher {
            if self.formats.known != nil { return call }
            return self.retrying(in: options.ofOneCall) { self.formats.publisher(of: self) }
                .flatMap { _ in call }
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }

    /// Whether a call reads or writes dates whose formats have to be asked for.
    func lacksFormats<Response>(for response: Response.Type) -> Bool {
        guard config.dateFormats.followsServer, formats.known == nil else { return false }
        return (response as? any DataAPIResponse.Type)?.isAboutRecords ?? false
    }

    /// The reader of answers: with the server's own formats, once they are known and the configuration follows them.
    var reader: AnswerReader { formatsIfAsked?.reader ?? givenReader }

    /// The encoding of records: with the server's own formats, once they are known and the configuration follows them.
    package var encoding: EncodingOptions { formatsIfAsked?.encoding ?? config.encoding }

    /// How line breaks in texts are written. An encoder of the user's writes them unchanged.
    package var lineBreaks: EncodingOptions.LineBreaks {
        config.encoder == nil ? config.encoding.lineBreaks : .asTheyAre
    }

    /// Whether records are written as the configuration says, not in formats that the host named.
    package var hasConfiguredFormats: Bool { formatsIfAsked == nil }

    private var formatsIfAsked: ServerFormats.KnownFormats? { config.dateFormats.followsServer ? formats.known : nil }
}

extension AnswerReader {
    /// - Parameter wallClock: returns the current date.
    convenience init(
        config: DataAPI.Config = DataAPI.Config(),
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(options: config.decoding, recordDecoder: config.decoder, wallClock: wallClock)
    }
}

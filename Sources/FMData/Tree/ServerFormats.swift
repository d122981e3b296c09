import NIOConcurrencyHelpers
import OpenCombine

/// What a server says of its dates, for ``DataAPI/DateFormats/server``: asked once, by the first who needs it, for all who do.
final class ServerFormats: @unchecked Sendable {
    // @unchecked: everything is guarded by `lock`; the publisher of an answer that is under way is one of OpenCombine's, which
    // guards itself.

    /// What follows from the answer.
    struct Known {
        let encoding: EncodingOptions
        let reader: AnswerReader
    }

    private enum State {
        case unknown
        case asking(Future<Known, FMRest.APIError>)
        case known(Known)
    }

    private let lock = NIOLock()
    private var state = State.unknown
    private var subscription: AnyCancellable?

    var known: Known? {
        lock.withLock { if case .known(let known) = state { known } else { nil } }
    }

    /// Publishes one value once the formats are known.
    func publisher(of server: DataAPI.Server) -> AnyPublisher<Known, FMRest.APIError> {
        let (answer, ask) = lock.withLock { lockedAnswer() }
        if let ask {
            // Whoever gives up waiting leaves the answer to the others.
            let subscription = server.perform { .productInfo() }
                .tryMap { try Known($0.productInfo, server) }
                .mapError { FMRest.APIError(wrapping: $0) }
                .sink(
                    receiveCompletion: { if case .failure(let error) = $0 { self.end(.failure(error), ask) } },
                    receiveValue: { self.end(.success($0), ask) }
                )
            lock.withLock {
                if case .asking = state { self.subscription = subscription }
            }
        }
        return answer
    }

    private typealias Promise = Future<Known, FMRest.APIError>.Promise

    private func lockedAnswer() -> (AnyPublisher<Known, FMRest.APIError>, ask: Promise?) {
        switch state {
        case .known(let known):
            return (Just(known).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher(), nil)
        case .asking(let answer):
            return (answer.eraseToAnyPublisher(), nil)
        case .unknown:
            var ask: Promise?
            let answer = Future<Known, FMRest.APIError> { ask = $0 }
            state = .asking(answer)
            return (answer.eraseToAnyPublisher(), ask)
        }
    }

    private func end(_ result: Result<Known, FMRest.APIError>, _ promise: Promise) {
        lock.withLock {
            subscription = nil
            state = if case .success(let known) = result { .known(known) } else { .unknown }
        }
        promise(result)
    }
}

extension ServerFormats.Known {
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
        // Not the server itself, which keeps what is known.
        let time = server.time
        reader = AnswerReader(config: config) { time.date(time.now()) }
    }
}

extension DataAPI.Server {
    /// A call that, where it reads or writes dates, waits until it is known how. It is tried again to learn that as the call
    /// itself is.
    func knowingFormats<Response, Value>(
        _ call: AnyPublisher<Value, FMRest.APIError>,
        for response: Response.Type,
        _ options: CallContext
    ) -> AnyPublisher<Value, FMRest.APIError> {
        guard config.dateFormats.followsServer,
            let response = response as? any DataAPIResponse.Type, response.isAboutRecords
        else { return call }
        return OnDemandPublisher {
            if self.formats.known != nil { return call }
            return self.retrying(in: options.ofOneCall) { self.formats.publisher(of: self) }
                .flatMap { _ in call }
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }

    /// How answers are read.
    var reader: AnswerReader { formatsIfAsked?.reader ?? givenReader }

    /// How records are written.
    var encoding: EncodingOptions { formatsIfAsked?.encoding ?? config.encoding }

    /// What becomes of the line breaks of texts that are written. An encoder of the user's writes them as they are.
    var lineBreaks: EncodingOptions.LineBreaks { config.encoder == nil ? config.encoding.lineBreaks : .asTheyAre }

    /// Whether records are written as the configuration says, and not in formats that the host has told.
    var hasConfiguredFormats: Bool { formatsIfAsked == nil }

    private var formatsIfAsked: ServerFormats.Known? { config.dateFormats.followsServer ? formats.known : nil }
}

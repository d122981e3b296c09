import AsyncHTTPClient
import FMData
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import OpenCombine

/// AsyncHTTPClient in place of FMData's own HTTP client: an example of a transport.
///
///     config.transport = AHCTransport()
///
/// A body is in memory before it is sent, an upload too. The limits `connect` and `total` are kept, the others are left
/// to AsyncHTTPClient.
struct AHCTransport: DataAPI.Transport {
    private let client: AsyncHTTPClient.HTTPClient

    init(_ configuration: AsyncHTTPClient.HTTPClient.Configuration = .init()) {
        client = AsyncHTTPClient.HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func parts(
        of request: DataAPI.TransportRequest
    ) -> AnyPublisher<DataAPI.ResponsePart, DataAPI.TransportError> {
        AnyPublisher(AHCParts(client: client, request: request))
    }

    func shutdown() -> AnyPublisher<Void, Never> {
        Deferred {
            Future { done in
                // A future may be completed on any thread.
                nonisolated(unsafe) let done = done
                client.shutdown().whenComplete { _ in done(.success(())) }
            }
        }
        .eraseToAnyPublisher()
    }
}

private struct AHCParts: Publisher {
    typealias Output = DataAPI.ResponsePart
    typealias Failure = DataAPI.TransportError

    let client: AsyncHTTPClient.HTTPClient
    let request: DataAPI.TransportRequest

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        subscriber.receive(subscription: AHCExchange(client, request, AnySubscriber(subscriber)))
    }
}

/// One exchange: a task that begins with the first demand and reads no more than is asked for.
private final class AHCExchange: Subscription, Sendable {
    private struct State {
        /// `nil` when it is over.
        var downstream: AnySubscriber<DataAPI.ResponsePart, DataAPI.TransportError>?
        var demand = Subscribers.Demand.none
        var task: Task<Void, Never>?
        /// Waits for demand, or for the end.
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let client: AsyncHTTPClient.HTTPClient
    private let request: DataAPI.TransportRequest
    // A subscriber may be called on any thread.
    private nonisolated(unsafe) let state: NIOLockedValueBox<State>

    init(
        _ client: AsyncHTTPClient.HTTPClient,
        _ request: DataAPI.TransportRequest,
        _ downstream: AnySubscriber<DataAPI.ResponsePart, DataAPI.TransportError>
    ) {
        self.client = client
        self.request = request
        state = NIOLockedValueBox(State(downstream: downstream))
    }

    func request(_ demand: Subscribers.Demand) {
        let waiter = state.withLockedValue { state in
            state.demand += demand
            if state.task == nil, state.downstream != nil { state.task = Task { await self.run() } }
            return state.waiter.take()
        }
        waiter?.resume()
    }

    func cancel() {
        let last = state.withLockedValue { state in
            defer { state = State() }
            return state
        }
        last.task?.cancel()
        last.waiter?.resume()
    }

    private func run() async {
        var hasHead = false
        var isSent = false
        do {
            let request = try await written()
            isSent = true
            let response = try await client.execute(request, timeout: timeout)
            hasHead = true
            let headers = DataAPI.Headers(response.headers.map { (name: $0.name, value: $0.value) })
            await pass(.head(status: Int(response.status.code), headers: headers))
            for try await bytes in response.body { await pass(.body(Data(buffer: bytes))) }
            finish(.finished)
        } catch {
            finish(.failure(failure(error, isSent: isSent, hasHead: hasHead)))
        }
    }

    private func written() async throws -> HTTPClientRequest {
        var request = HTTPClientRequest(url: self.request.url)
        request.method = HTTPMethod(rawValue: self.request.method)
        for (name, value) in self.request.headers { request.headers.add(name: name, value: value) }
        if let length = self.request.bodyLength {
            var body = ByteBufferAllocator().buffer(capacity: length)
            let pieces = self.request.body.mapError { FMRest.APIError(.invalidRequest, reason: "\($0)") }
            for try await piece in pieces.values { body.writeBytes(piece) }
            request.body = .bytes(body)
        }
        return request
    }

    private var timeout: TimeAmount {
        request.timeouts?.total.map { TimeAmount($0) } ?? .hours(24)
    }

    /// Hands a part to the subscriber when it is asked for.
    private func pass(_ part: DataAPI.ResponsePart) async {
        await withCheckedContinuation { continuation in
            let isWanted = state.withLockedValue { state in
                guard state.demand == .none, state.downstream != nil else { return true }
                state.waiter = continuation
                return false
            }
            if isWanted { continuation.resume() }
        }
        let downstream = state.withLockedValue { state in
            if state.demand > .none { state.demand -= 1 }
            return state.downstream
        }
        guard let more = downstream?.receive(part) else { return }
        state.withLockedValue { $0.demand += more }
    }

    private func finish(_ completion: Subscribers.Completion<DataAPI.TransportError>) {
        state.withLockedValue { $0.downstream.take() }?.receive(completion: completion)
    }

    /// What failed, and what is known of the request: it is sent again only if the host has certainly not acted on it.
    private func failure(_ error: any Error, isSent: Bool, hasHead: Bool) -> DataAPI.TransportError {
        let code: DataAPI.TransportError.Code
        var outcome: DataAPI.TransportError.Outcome = hasHead ? .answered : isSent ? .unknown : .notSent
        switch error as? AsyncHTTPClient.HTTPClientError {
        case .connectTimeout?: (code, outcome) = (.connectTimeout, .notSent)
        case .getConnectionFromPoolTimeout?: (code, outcome) = (.queueTimeout, .notSent)
        case .deadlineExceeded?: code = .totalTimeout
        case .readTimeout?: code = .idleTimeout
        case nil where error is NIOConnectionError: (code, outcome) = (.connectionRefused, .notSent)
        default: code = hasHead ? .truncatedBody : isSent ? .connectionClosed : .bodyFailed
        }
        return DataAPI.TransportError(code: code, outcome: outcome, underlying: "\(type(of: error))")
    }
}

extension Optional {
    /// Returns the value, and leaves `nil`.
    fileprivate mutating func take() -> Wrapped? {
        defer { self = nil }
        return self
    }
}

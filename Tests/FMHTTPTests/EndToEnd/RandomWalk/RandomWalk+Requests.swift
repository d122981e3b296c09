import FMHTTP
import FMTestSupport
import NIOCore
import OpenCombine

// The client's side of a walk. The request, and whether it is cancelled, follow from the seed and the number.
extension RandomWalk {
    struct Requests: Sendable {
        let plan: Plan
        let client: HTTPClient
        let origin: Origin
        let closedOrigin: Origin
        let ledger: Locked<Ledger>

        private enum Cancellation { case never, afterTurns(Int), withinValue }

        func run(_ number: Int) async {
            var random = SeededRandom(seed: plan.seed << 32 ^ UInt64(number))
            let request = makeRequest(number, &random)
            let cancellation: Cancellation =
                switch Int.random(in: 0..<16, using: &random) {
                case 0: .afterTurns(Int.random(in: 0..<8, using: &random))
                case 1: .withinValue
                default: .never
                }
            await take(request, demand: Int.random(in: 0..<5, using: &random) == 0 ? .max(1) : .unlimited, cancellation)
        }

        private func makeRequest(_ number: Int, _ random: inout SeededRandom) -> HTTPRequest {
            var request = HTTPRequest(origin: origin, target: "/\(number)")
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4:
                request.isSafeToRepeat = true
            case 5...7:
                request.method = .POST
                request.body = .bytes(ByteBuffer(string: "write \(number)"))
            case 8:
                request.method = .PUT
                request.body = .bytes(ByteBuffer(repeating: 7, count: 100_000))
            default:
                request.method = .PUT
                request.body = stream(&random)
            }
            switch Int.random(in: 0..<40, using: &random) {
            case 0: request.origin = closedOrigin
            case 1: request.timeouts = HTTPTimeouts(total: .milliseconds(5))
            case 2: request.timeouts = HTTPTimeouts(queue: .milliseconds(1), firstByte: .milliseconds(50))
            case 3: request.headers = ["X": "line\r\nbreak"]
            case 4: request.headers = ["Connection": "close"]
            default: break
            }
            return request
        }

        /// A body in pieces; now and then it is shorter than announced.
        private func stream(_ random: inout SeededRandom) -> HTTPBody {
            let pieces = Int.random(in: 1...20, using: &random)
            let announced = pieces + (Int.random(in: 0..<8, using: &random) == 0 ? 1 : 0)
            return .stream(length: announced * 3_000, isReplayable: Bool.random(using: &random)) {
                (0..<pieces).publisher
                    .map { _ in ByteBuffer(repeating: 1, count: 3_000) }
                    .setFailureType(to: (any Error).self)
                    .eraseToAnyPublisher()
            }
        }

        // MARK: Receiving

        private func take(
            _ request: HTTPRequest,
            demand: Subscribers.Demand,
            _ cancellation: Cancellation
        ) async {
            let canceller = SerialCancellable()
            let subscriber = TrackingSubscriber<HTTPResponsePart, HTTPClientError>(
                initialDemand: demand,
                demandAfterValue: { _ in demand == .unlimited ? .none : .max(1) },
                onEvent: { event in
                    switch event {
                    case .subscription: break
                    case .value: if case .withinValue = cancellation { canceller.cancel() }
                    case .completion: ledger.change { $0.completions[request.target, default: 0] += 1 }
                    }
                }
            )
            canceller.set(subscriber)
            client.parts(request)
                .handleEvents(receiveSubscription: { subscription in
                    let seen = WeakObject(object: subscription as AnyObject)
                    ledger.change { $0.subscriptions.append(seen) }
                })
                .subscribe(subscriber)
            switch cancellation {
            case .never:
                break
            case .afterTurns(let turns):
                for _ in 0..<turns { await Task.yield() }
                subscriber.cancel()
                return gaveUp(request)
            case .withinValue:
                // If there is a value, the request is cancelled there; otherwise it has failed.
                await subscriber.wait { $0.count > 1 }
                guard subscriber.values.isEmpty else { return gaveUp(request) }
            }
            let completion = await subscriber.completion()
            enter(completion, request, completion == .finished ? HTTPResponse(subscriber.values) : nil)
        }

        /// Cancelled, or completed just before: the outcome of a write is unknown to the caller.
        private func gaveUp(_ request: HTTPRequest) {
            ledger.change { _ = $0.cancelled.insert(request.target) }
        }

        private func enter(
            _ completion: Subscribers.Completion<HTTPClientError>,
            _ request: HTTPRequest,
            _ response: HTTPResponse?
        ) {
            let target = request.target
            let isWrite = request.method != .GET
            ledger.change { ledger in
                ledger.ended += 1
                switch completion {
                case .finished:
                    if isWrite { ledger.acknowledged.insert(target) }
                case .failure(let error):
                    ledger.codes["\(error.code)", default: 0] += 1
                    guard isWrite else { return }
                    switch error.outcome {
                    case .notSent: ledger.notSent.insert(target)
                    case .unknown: ledger.unknown.insert(target)
                    case .answered: ledger.answered.insert(target)
                    }
                }
            }
            switch completion {
            case .finished:
                ledger.note(response.map { isAnswer($0, to: target) } == true, "\(target) got another answer")
            case .failure(let error):
                let isBeforeSending = Self.codesBeforeSending.contains(error.code)
                ledger.note(!isBeforeSending || error.outcome == .notSent, "\(target): \(error), \(error.outcome)")
            }
        }

        private func isAnswer(_ response: HTTPResponse, to target: String) -> Bool {
            let zeros = response.headers.first(name: "x-zeros").flatMap { Int($0) } ?? 0
            let text = String(decoding: response.body.readableBytesView.prefix { $0 != 0 }, as: UTF8.self)
            let isShort = response.headers.contains(name: "x-maybe-short")
            return (isShort ? target.hasPrefix(text) : text == target)
                && response.body.readableBytes == text.utf8.count + zeros
        }

        private static let codesBeforeSending: Set<HTTPClientError.Code> = [
            .invalidRequest, .queueTimeout, .connectionRefused, .connectFailed, .connectTimeout, .tlsFailure,
            .certificateInvalid,
        ]
    }
}

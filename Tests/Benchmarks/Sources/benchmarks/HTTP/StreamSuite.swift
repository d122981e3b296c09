import FMHTTP
import NIOCore
import NIOPosix
import OpenCombine

/// A gigabyte through `parts`, one chunk at a time, to measure the memory.
enum StreamSuite: Suite {
    static let name = "stream"
    static let isPartOfAll = false

    static func run(_ report: inout Report, _ options: Options) async throws {
        let server = try await LocalServer()
        let client = FMHTTP.HTTPClient()
        let origin = Origin(scheme: .http, host: "127.0.0.1", port: server.port)
        // A first, small response, so that one-time costs do not count.
        _ = try await stream(client, HTTPRequest(origin: origin, target: "/s"))
        let before = processFootprint().memory
        var peak = before
        var bytes = 0
        let time = try await seconds {
            (bytes, peak) = try await stream(client, HTTPRequest(origin: origin, target: "/g"))
        }
        precondition(bytes == LocalServer.streamBytes)
        let extra = Double(max(0, peak - before)) / 1e6
        let rate = Double(bytes) / 1e6 / time
        report["http.stream1GB.extraMB"] = extra
        report["http.stream1GB.MBperSecond"] = rate
        print("\n1 GB streamed: \(Int(rate)) MB/s, \(extra) MB of extra memory at the peak")
        await client.shutdown()
        try await server.stop()
    }

    private static func stream(_ client: FMHTTP.HTTPClient, _ request: HTTPRequest) async throws -> (Int, Int) {
        let done = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: (Int, Int).self)
        client.parts(request).subscribe(Counter(done))
        return try await done.futureResult.get()
    }

    private final class Counter: Subscriber {
        typealias Input = HTTPResponsePart
        typealias Failure = FMHTTP.HTTPClientError

        private let done: EventLoopPromise<(Int, Int)>
        private var bytes = 0
        private var chunks = 0
        private var peak = 0

        init(_ done: EventLoopPromise<(Int, Int)>) { self.done = done }

        func receive(subscription: any Subscription) { subscription.request(.max(1)) }

        func receive(_ part: HTTPResponsePart) -> Subscribers.Demand {
            if case .body(let chunk) = part { bytes += chunk.readableBytes }
            chunks += 1
            if chunks.isMultiple(of: 256) { peak = max(peak, processFootprint().memory) }
            return .max(1)
        }

        func receive(completion: Subscribers.Completion<FMHTTP.HTTPClientError>) {
            switch completion {
            case .finished: done.succeed((bytes, peak))
            case .failure(let error): done.fail(error)
            }
        }
    }
}

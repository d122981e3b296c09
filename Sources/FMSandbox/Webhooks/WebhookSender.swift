import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// Delivers the queues of webhooks, each in order, by real HTTP to this machine.
final class WebhookSender: Sendable {
    /// The number of attempts.
    let deliveryCount = WatchedCount()
    private let tasks = RunningTasks()

    func stop() { tasks.stop() }

    /// Delivers a queue until it is empty.
    func work(on number: Int, of engine: Engine) {
        tasks.run {
            // A delivery is interrupted only when the sandbox is stopped.
            try? await self.deliver(number, engine)
        }
    }

    private func deliver(_ number: Int, _ engine: Engine) async throws {
        while let job = engine.withState({ $0.webhooks.nextJob(number) }) {
            if let delay = job.delay { try await engine.clock.wait(for: delay) }
            guard job.copies > 0 else {
                engine.withState { $0.webhooks.dropped(number) }
                continue
            }
            for _ in 1..<job.copies {
                let outcome = await attempt(job, engine)
                try Task.checkCancellation()
                engine.withState { $0.webhooks.sentCopy(of: job, outcome) }
                deliveryCount.change(by: 1)
            }
            let outcome = await attempt(job, engine)
            try Task.checkCancellation()
            let pause = engine.withState { $0.webhooks.attempted(number, job.operation, outcome) }
            deliveryCount.change(by: 1)
            if let pause { try await engine.clock.wait(for: pause) }
        }
    }

    /// The status of the receiver's answer, or the reason why there is none.
    private func attempt(_ job: WebhookBoard.Job, _ engine: Engine) async -> Result<Int, FileMakerError> {
        guard !job.operation.isStuck else {
            return .failure(FileMakerError(-1002, message: "syntax error in URL at: 'id'"))
        }
        return await Self.post(WebhookBody.bytes(of: job, in: engine), to: job.hook.url, headers: job.hook.headers)
    }

    /// Sends a body to a URL on this machine. Any other host is refused.
    static func post(
        _ body: [UInt8],
        to url: String,
        headers: [String: String]
    ) async -> Result<Int, FileMakerError> {
        let failure = FileMakerError(1631, message: "Connection failed")
        guard let parts = URLComponents(string: url), parts.scheme == "http", let host = parts.host,
            ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host.lowercased())
        else { return .failure(failure) }
        let target =
            (parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath)
            + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
        var fields = HTTPHeaders(headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        fields.add(name: "Host", value: parts.port.map { "\(host):\($0)" } ?? host)
        fields.add(name: "Content-Type", value: "application/json")
        fields.add(name: "Content-Length", value: String(body.count))
        fields.add(name: "Connection", value: "close")
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: target, headers: fields)
        let status = SandboxLoops.group.any().makePromise(of: Int.self)
        guard
            let channel = try? await ClientBootstrap(group: SandboxLoops.group)
                .channelInitializer({ channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        try channel.pipeline.syncOperations.addHandler(StatusHandler(status))
                    }
                })
                .connect(host: host.trimmingCharacters(in: ["[", "]"]), port: parts.port ?? 80).get()
        else {
            status.fail(failure)
            return .failure(failure)
        }
        channel.closeFuture.whenComplete { _ in status.fail(failure) }
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: body))), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        defer { channel.close(promise: nil) }
        do {
            return .success(
                try await withTaskCancellationHandler {
                    try await status.futureResult.get()
                } onCancel: {
                    channel.close(promise: nil)
                }
            )
        } catch {
            return .failure(failure)
        }
    }
}

/// Waits for the end of an answer and reports its status. It runs on the channel's event loop only.
private final class StatusHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<Int>
    private var status = 0

    init(_ promise: EventLoopPromise<Int>) { self.promise = promise }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head): status = Int(head.status.code)
        case .body: break
        case .end: promise.succeed(status)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

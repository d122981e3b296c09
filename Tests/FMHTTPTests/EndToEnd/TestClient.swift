import FMHTTP
import FMTestSupport
import NIOCore
import NIOPosix
import OpenCombine
import Testing

/// A client and a fault server for the duration of a test; at the end it checks that no connection is left.
func withServer(
    _ options: FaultServer.Options = .init(),
    configuration: HTTPClientConfiguration = .init(),
    eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
    answer: @escaping FaultServer.Answer,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (HTTPClient, FaultServer, Origin) async throws -> Void
) async throws {
    let server = try await FaultServer.start(options, answer)
    var configuration = configuration
    // A busy machine may delay a test by any time between two lines.
    configuration.maximumRestBeforeUnsafeRequest = .seconds(3600)
    if configuration.timeouts == HTTPTimeouts() {
        let patience = Duration.seconds(3600)
        configuration.timeouts = HTTPTimeouts(queue: patience, firstByte: patience, idle: patience)
    }
    configuration.timeouts.connect = .seconds(3600)
    if configuration.idleConnectionLifetime == HTTPClientConfiguration().idleConnectionLifetime {
        configuration.idleConnectionLifetime = .seconds(3600)
    }
    let client = HTTPClient(configuration: configuration, eventLoopGroup: eventLoopGroup)
    let scheme: Origin.Scheme = options.tls == nil ? .http : .https
    try await body(client, server, Origin(scheme: scheme, host: "localhost", port: server.port))
    await client.shutdown(grace: .zero)
    #expect(client.counts == PoolCounts(), sourceLocation: sourceLocation)
    await server.allConnectionsClosed()
    try await server.stopped()
}

extension HTTPClientConfiguration {
    /// The default with very long time limits: a busy machine may delay a test for longer than any normal limit.
    static var patient: HTTPClientConfiguration {
        HTTPClientConfiguration {
            $0.timeouts = .patient
            $0.idleConnectionLifetime = .seconds(3600)
        }
    }
}

extension HTTPTimeouts {
    static let patient = HTTPTimeouts(queue: nil, connect: nil, firstByte: nil, idle: nil, minimumRate: nil)
}

extension HTTPClient {
    func get(_ origin: Origin, _ target: String = "/") async -> Result<HTTPResponse, HTTPClientError> {
        await send(HTTPRequest(origin: origin, target: target, isSafeToRepeat: true))
    }

    func send(_ request: HTTPRequest) async -> Result<HTTPResponse, HTTPClientError> {
        await parts(request).outcome().map(HTTPResponse.init)
    }
}

extension Result {
    var failure: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}

extension Result {
    var value: Success? { try? get() }
}

/// The parts of one response, joined.
struct HTTPResponse: Sendable {
    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    private(set) var body = ByteBuffer()

    /// - Parameter parts: the parts of a finished response, which has a head.
    init(_ parts: [HTTPResponsePart]) {
        guard case .head(let head)? = parts.first else { preconditionFailure("a response begins with its head") }
        status = head.status
        headers = head.headers
        for case .body(let bytes) in parts { body.writeImmutableBuffer(bytes) }
    }

    var text: String { String(buffer: body) }
}

/// A correct answer.
func ok(_ body: String = "", headers: String = "") -> [FaultServer.Step] {
    [.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")]
}

#if Tracing
public import FMData
import OpenCombine
import Synchronization
public import Tracing

/// Spans of a server's calls, by swift-distributed-tracing, with the names of OpenTelemetry's conventions for clients
/// of databases.
///
///     var config = DataAPI.Config()
///     DataAPITracing().install(in: &config)
///
/// A call is a span of the kind client, named after its operation and its layout (`findRecords Orders`). Its parent is
/// the service context of the code that subscribes. Each attempt is a child of it, named after its method, as is a
/// login or the content of a container, which have no call. Attributes are names and numbers: never a value, a query,
/// an account or a URL.
///
/// A failed call has `error.type` (the `APIError.Code`), `db.response.status_code` (FileMaker's code) and the
/// status *error*. A cancelled one has `filemaker.cancelled` and no error.
///
/// Source: OpenTelemetry semantic conventions 1.44, "Database client spans", "HTTP client spans".
public struct DataAPITracing: Sendable {
    private let tracer: (any Tracer)?
    private let injectsContext: Bool

    /// Creates spans that no server uses yet.
    ///
    /// - Parameters:
    ///   - tracer: the tracer. The default is the one that the program has bootstrapped.
    ///   - injectsContext: whether requests carry the context in headers, such as `traceparent`. FileMaker ignores
    ///     them; a gateway may use them. The default is no.
    public init(tracer: (any Tracer)? = nil, injectsContext: Bool = false) {
        self.tracer = tracer
        self.injectsContext = injectsContext
    }

    /// Has the calls of every server with this configuration traced.
    public func install(in config: inout DataAPI.Config) {
        config.observers.append(observer)
        config.middleware.append(withoutCalls)
    }

    private var used: any Tracer { tracer ?? InstrumentationSystem.tracer }

    private var observer: DataAPI.CallObserver {
        DataAPI.CallObserver { call in
            // The context is that of the code that subscribes: task-local values do not follow a publisher.
            let context = ServiceContext.current ?? .topLevel
            let operation = call.operation.rawValue
            let name = call.layout.map { operation + " " + $0 } ?? operation
            let span = used.startAnySpan(name, context: context, ofKind: .client)
            // A span that the tracer drops takes no attributes, but its context may travel on.
            guard span.isRecording else {
                return DataAPI.CallObservation(middleware: injectsContext ? injecting(span.context) : nil) { _ in
                    span.end()
                }
            }
            span.attributes["db.system.name"] = "filemaker"
            span.attributes["db.operation.name"] = operation
            call.database.map { span.attributes["db.namespace"] = $0 }
            call.layout.map { span.attributes["db.collection.name"] = $0 }
            call.tag.map { span.attributes["filemaker.tag"] = $0 }
            span.setServer(call.origin)
            return DataAPI.CallObservation(middleware: attempts(of: span.context)) { end in
                if end.rowCount > 0 { span.attributes["db.response.returned_rows"] = end.rowCount }
                if end.isCancelled { span.attributes["filemaker.cancelled"] = true }
                if let failure = end.failure { span.failed(failure) }
                span.end()
            }
        }
    }

    /// Has the requests of a call carry the context of its span, which is not recorded.
    private func injecting(_ context: ServiceContext) -> DataAPI.Middleware {
        let tracer = used
        return DataAPI.Middleware(changing: { request in
            tracer.inject(context, into: &request, using: HeaderInjector())
        })
    }

    /// Spans of requests that belong to no call.
    private var withoutCalls: DataAPI.Middleware {
        DataAPI.Middleware(of: [.logIn, .logOut, .downloadContainer]) { request, next in
            attempts(of: ServiceContext.current ?? .topLevel, prefix: "\(request.operation) ").traced(request, next)
        }
    }

    private func attempts(of context: ServiceContext, prefix: String = "") -> AttemptSpans {
        AttemptSpans(tracer: used, parent: context, prefix: prefix, injectsContext: injectsContext)
    }

    private func attempts(of context: ServiceContext) -> DataAPI.Middleware {
        let spans: AttemptSpans = attempts(of: context)
        return DataAPI.Middleware { request, next in spans.traced(request, next) }
    }
}

/// Spans of attempts, one below the other.
private struct AttemptSpans: Sendable {
    let tracer: any Tracer
    let parent: ServiceContext
    let prefix: String
    let injectsContext: Bool

    func traced(
        _ request: DataAPI.OutgoingRequest,
        _ next: @escaping DataAPI.Middleware.Next
    ) -> AnyPublisher<DataAPI.ResponsePart, FMRest.APIError> {
        let span = tracer.startAnySpan(prefix + request.method, context: parent, ofKind: .client)
        if span.isRecording {
            span.attributes["http.request.method"] = request.method
            span.attributes["url.template"] = request.pathTemplate
            if request.attempt > 1 { span.attributes["http.request.resend_count"] = request.attempt - 1 }
            span.setServer(request.origin)
        }
        var request = request
        if injectsContext { tracer.inject(span.context, into: &request, using: HeaderInjector()) }
        let end = OneEnd(span)
        return next(request).handleEvents(
            receiveOutput: { part in
                if let status = part.status { span.attributes["http.response.status_code"] = status }
            },
            receiveCompletion: { completion in
                if case .failure(let error) = completion { span.failed(error) }
                end.ended()
            },
            receiveCancel: { end.ended() }
        )
        .eraseToAnyPublisher()
    }
}

/// Ends a span once: an answer that is read to its end may be cancelled as well.
private final class OneEnd: Sendable {
    private let span: Mutex<(any Span)?>

    init(_ span: any Span) { self.span = Mutex(span) }

    func ended() {
        span.withLock { span in
            defer { span = nil }
            return span
        }?
        .end()
    }
}

private struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into request: inout DataAPI.OutgoingRequest) {
        request.headers[key] = value
    }
}

extension Span {
    fileprivate func setServer(_ origin: String) {
        guard let authority = origin.split(separator: "/").last, !authority.isEmpty else { return }
        let port = authority.lastIndex(of: ":").flatMap { colon in Int(authority[authority.index(after: colon)...]) }
        attributes["server.address"] = String(port == nil ? authority : authority.prefix { $0 != ":" })
        port.map { attributes["server.port"] = $0 }
    }

    fileprivate func failed(_ error: FMRest.APIError) {
        attributes["error.type"] = "\(error.code)"
        if let code = error.fileMakerCode { attributes["db.response.status_code"] = "\(code.rawValue)" }
        setStatus(SpanStatus(code: .error))
    }
}
#endif

public import OpenCombine

extension DataAPI {
    /// A step that every request of a server, or of single calls, goes through before it is sent, and its response on
    /// its way back.
    ///
    /// ```swift
    /// var config = DataAPI.Config()
    /// config.middleware = [.headers(["CF-Access-Client-Id": "4711.access"])]       // for a gateway
    /// config.middleware.append(
    ///     DataAPI.Middleware { request, next in
    ///         next(request).handleEvents(receiveOutput: { part in
    ///             if let status = part.status { print(request.operation, status) }      // productInfo 200
    ///         })
    ///         .eraseToAnyPublisher()
    ///     }
    /// )
    /// let watched = DataAPI.Server(host: "fms.example.com", config: config)
    /// print(try await watched.getProductInfo().firstValue().name.isEmpty)          // false
    /// ```
    ///
    /// It is called for each attempt, with the request and with `next`, which sends the request through the steps
    /// behind it to the host. It may change headers and the root path, wait, answer by itself without calling `next`,
    /// watch or replace the parts of the response, or fail: with an ``FMRest/APIError`` of its own, which the call then
    /// fails with, its ``FMRest/APIError/request`` filled in.
    ///
    /// Steps are called in their order: those of ``Config/middleware`` first, then those of
    /// ``CallOptions/middleware``. The first one is the outermost: it sees the request first and the response last.
    ///
    /// **A write is sent once.** `next` sends nothing a second time that is not ``OutgoingRequest/isSafeToRepeat`` and
    /// may have reached the host: it fails with ``FMRest/APIError/Code/invalidRequest``. When a step fails after a
    /// write was sent, the call's error has ``FMRest/APIError/outcomeIsUnknown``.
    ///
    /// A step runs on the thread that subscribes or delivers. It must not block.
    public struct Middleware: Sendable {
        /// Sends a request through the steps behind.
        public typealias Next = @Sendable (OutgoingRequest) -> AnyPublisher<ResponsePart, FMRest.APIError>

        let handle: @Sendable (OutgoingRequest, @escaping Next) -> AnyPublisher<ResponsePart, FMRest.APIError>

        /// Creates a step.
        ///
        /// - Parameter handle: returns the parts of the response, mostly those of `next(request)`. They are subscribed
        ///   to at once; the demand for them is that of the code that reads the answer.
        public init(
            _ handle:
                @escaping @Sendable (OutgoingRequest, @escaping Next) -> AnyPublisher<
                    ResponsePart, FMRest.APIError
                >
        ) {
            self.handle = handle
        }

        /// A step that sets headers, in place of those of the same names.
        public static func headers(_ headers: Headers) -> Middleware {
            Middleware { request, next in
                var request = request
                for (name, _) in headers { request.headers[name] = nil }
                for (name, value) in headers { request.headers.add(name, value) }
                return next(request)
            }
        }
    }
}

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
    /// A step that only changes requests is ``init(changing:)``, which costs a call a fraction of this.
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

        enum Step: Sendable {
            case exchange(@Sendable (OutgoingRequest, @escaping Next) -> AnyPublisher<ResponsePart, FMRest.APIError>)
            case change(@Sendable (inout OutgoingRequest) throws -> Void)
            case headers(Headers)
        }

        let step: Step
        /// The operations whose requests go through the step; `nil` for all. A few are compared faster than hashed.
        private let operations: [Operation]?

        private init(_ step: Step, of operations: Set<Operation>? = nil) {
            self.step = step
            self.operations = operations.map(Array.init)
        }

        /// Whether requests of all operations go through the step.
        var isForAll: Bool { operations == nil }

        /// Whether a request goes through the step.
        ///
        /// - Parameter operation: what the request asks for; called only if the step is for some operations alone.
        func isFor(_ operation: @autoclosure () -> Operation) -> Bool { operations?.contains(operation()) ?? true }

        /// Creates a step.
        ///
        /// - Parameters:
        ///   - operations: the operations whose requests go through the step; others pass by, at no cost. The default
        ///     is `nil`, for all.
        ///   - handle: returns the parts of the response, mostly those of `next(request)`. They are subscribed to at
        ///     once; the demand for them is that of the code that reads the answer.
        public init(
            of operations: Set<Operation>? = nil,
            _ handle:
                @escaping @Sendable (OutgoingRequest, @escaping Next) -> AnyPublisher<
                    ResponsePart, FMRest.APIError
                >
        ) {
            self.init(.exchange(handle), of: operations)
        }

        /// Creates a step that changes requests and does not see their responses.
        ///
        ///     config.middleware.append(DataAPI.Middleware(changing: { $0.headers["X-Work"] = $0.tag }))
        ///
        /// - Parameter change: changes the request. An error that it throws is that of the call, and nothing is sent.
        public init(changing change: @escaping @Sendable (inout OutgoingRequest) throws -> Void) {
            self.init(.change(change))
        }

        /// A step that sets headers, in place of those of the same names.
        public static func headers(_ headers: Headers) -> Middleware {
            Middleware(.headers(headers))
        }

        var setsHeadersAlone: Bool { if case .headers = step { true } else { false } }

        /// Changes the request, if that is all that the step does. Returns whether it is.
        func change(_ request: inout OutgoingRequest) throws(FMRest.APIError) -> Bool {
            switch step {
            case .exchange: return false
            case .headers(let headers): request.headers.replace(by: headers)
            case .change(let change):
                do { try change(&request) } catch {
                    throw FMRest.APIError(wrapping: error, otherwise: .invalidRequest)
                }
            }
            return true
        }

        /// Sends the request through this step, and then through those behind.
        func handle(_ request: OutgoingRequest, _ next: @escaping Next) -> AnyPublisher<ResponsePart, FMRest.APIError> {
            if case .exchange(let handle) = step { return handle(request, next) }
            var request = request
            do throws(FMRest.APIError) { _ = try change(&request) } catch {
                return Fail(error: error).eraseToAnyPublisher()
            }
            return next(request)
        }
    }
}

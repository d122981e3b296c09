import FMData
import FMTestSupport
import Foundation
import OpenCombine

@testable import FMDataCore

/// A transport that answers from memory, as a closure says, and keeps the requests.
final class MemoryTransport: DataAPI.Transport {
    typealias Answer = Result<[DataAPI.ResponsePart], DataAPI.TransportError>

    private let kept = Locked<[DataAPI.TransportRequest]>([])
    private let ends = Locked(0)
    private let demands = Locked<[Int?]>([])
    private let answer: @Sendable (DataAPI.TransportRequest, _ number: Int) -> Answer

    /// - Parameter answer: returns the answer to a request, which is numbered from 1; logins and logouts succeed by
    ///   themselves.
    init(_ answer: @escaping @Sendable (DataAPI.TransportRequest, _ number: Int) -> Answer) { self.answer = answer }

    /// The requests except logins and logouts.
    var requests: [DataAPI.TransportRequest] { kept.value.filter { !$0.target.contains("/sessions") } }
    /// All requests, as method and target.
    var lines: [String] { kept.value.map { "\($0.method) \($0.target)" } }
    /// How often it was shut down.
    var shutdowns: Int { ends.value }
    /// The demands for parts, in their order; `nil` for an unlimited one.
    var demanded: [Int?] { demands.value }

    func parts(
        of request: DataAPI.TransportRequest
    ) -> AnyPublisher<DataAPI.ResponsePart, DataAPI.TransportError> {
        Deferred { () -> AnyPublisher<DataAPI.ResponsePart, DataAPI.TransportError> in
            self.kept.change { $0.append(request) }
            let answer: Answer =
                if request.target.contains("/sessions") {
                    .success(.json("{}", ["X-FM-Data-Access-Token": "T1"]))
                } else {
                    self.answer(request, self.requests.count)
                }
            switch answer {
            case .success(let parts):
                return parts.publisher.setFailureType(to: DataAPI.TransportError.self).eraseToAnyPublisher()
            case .failure(let error): return Fail(error: error).eraseToAnyPublisher()
            }
        }
        .handleEvents(receiveRequest: { demand in self.demands.change { $0.append(demand.max) } })
        .eraseToAnyPublisher()
    }

    func shutdown() -> AnyPublisher<Void, Never> {
        Deferred {
            self.ends.change { $0 += 1 }
            return Just(())
        }
        .eraseToAnyPublisher()
    }
}

extension [DataAPI.ResponsePart] {
    /// A successful answer of a Data API, in two pieces.
    static func json(_ response: String, _ headers: DataAPI.Headers = [:]) -> Self {
        var headers = headers
        headers["Content-Type"] = "application/json; charset=utf-8"
        return [
            .head(status: 200, headers: headers), .body(Data(#"{"response":\#(response),"#.utf8)),
            .body(Data(#""messages":[{"code":"0","message":"OK"}]}"#.utf8)),
        ]
    }

    /// Records with one field.
    static func records(_ names: String...) -> Self {
        let records = names.enumerated().map { index, name in
            #"{"fieldData":{"Name":"\#(name)"},"portalData":{},"recordId":"\#(index + 1)","modId":"0"}"#
        }
        return json(#"{"data":[\#(records.joined(separator: ","))]}"#)
    }

    /// FileMaker's answer with an error code.
    static func error(_ code: Int, status: Int = 500) -> Self {
        [
            .head(status: status, headers: ["Content-Type": "application/json"]),
            .body(Data(#"{"messages":[{"code":"\#(code)","message":""}],"response":{}}"#.utf8)),
        ]
    }
}

extension DataAPI.Middleware {
    /// A step that notes what passes: before the request, and with the head of its response.
    static func noting(
        _ lines: Locked<[String]>,
        _ line: @escaping @Sendable (DataAPI.OutgoingRequest) -> String
    )
        -> Self
    {
        DataAPI.Middleware { request, next in
            lines.change { $0.append(line(request)) }
            return next(request)
        }
    }

    /// A step that fails instead of sending anything.
    static func failing(_ error: FMRest.APIError, on operation: DataAPI.Operation) -> Self {
        DataAPI.Middleware { request, next in
            request.operation == operation ? Fail(error: error).eraseToAnyPublisher() : next(request)
        }
    }
}

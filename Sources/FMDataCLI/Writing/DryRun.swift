import FMData
import Foundation
import OpenCombine

/// Shows the request of a write instead of sending it. Nothing reaches the host: logins are answered here as well.
struct DryRun: Sendable {
    /// The request that would have been sent.
    struct Request: Equatable, Sendable {
        var method: String
        var path: String
        /// The JSON body; nil if there is none, or none that is JSON.
        var body: String?
        /// The length of a body that is no JSON.
        var byteCount: Int?
    }

    /// Ends the call whose request was shown.
    private struct End: Error {}

    private let request = LockedValue<Request?>(nil)

    /// Makes the call of a database that sends nothing, and returns its request.
    func request(of call: () -> AnyPublisher<some Sendable, FMRest.APIError>) async throws -> Request {
        let result = await call().awaitSingleResult()
        if let request = request.value { return request }
        // The call failed before it had a request.
        _ = try result.get()
        throw CommandError("The call has no request.")
    }

    /// The step that answers requests.
    var middleware: DataAPI.Middleware {
        DataAPI.Middleware { [request] outgoing, _ in
            switch outgoing.operation {
            case .logIn, .logOut:
                let body = #"{"response":{"token":"dry-run"},"messages":[{"code":"0","message":"OK"}]}"#
                let parts: [DataAPI.ResponsePart] = [
                    .head(status: 200, headers: ["X-FM-Data-Access-Token": "dry-run"]), .body(Data(body.utf8)),
                ]
                return parts.publisher.setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
            default:
                let isJSON = outgoing.headers["Content-Type"]?.hasPrefix("application/json") == true
                // A file may be large, and is not shown.
                let body = isJSON ? outgoing.body : Empty().eraseToAnyPublisher()
                return body.reduce(Data(), +)
                    .tryMap { body in
                        request.value = Request(outgoing, json: isJSON ? body : nil)
                        throw End()
                    }
                    .mapError { error in
                        error as? FMRest.APIError ?? FMRest.APIError(.cancelled, reason: "It is a dry run.")
                    }
                    .eraseToAnyPublisher()
            }
        }
    }
}

extension DryRun.Request {
    fileprivate init(_ outgoing: DataAPI.OutgoingRequest, json: Data?) {
        let id = outgoing.recordId.map(String.init) ?? "{recordId}"
        self.init(
            method: outgoing.method,
            path: outgoing.rootPath + outgoing.pathTemplate.replacing("{recordId}", with: id),
            body: json.map { String(decoding: $0, as: UTF8.self) },
            byteCount: json != nil || outgoing.bodyLength == 0 ? nil : outgoing.bodyLength
        )
    }

    /// The request for the form of the options.
    func print(_ options: OutputOptions) throws {
        let output = StandardOutput()
        if options.errorsAreJSON {
            let object: OutputValue = [
                "method": .text(method), "path": .text(path), "body": body.map(OutputValue.json),
                "byteCount": byteCount.map(OutputValue.int),
            ]
            try output.writeLine(object.json)
        } else {
            try output.writeLine("\(method) \(path)")
            if let body { try output.writeLine(body) }
            if let byteCount { try output.writeLine("(\(byteCount) bytes)") }
        }
        try output.flush()
    }
}

import FMHTTP
public import Foundation
import NIOCore

extension DataAPI {
    /// A request to a database that this library has no call for, such as one of a later version of the server.
    ///
    ///     RawRequest("GET", ["layouts", "People", "records"], query: ["_limit": "1"])
    ///
    /// ``Database/rawAnswer(to:isolation:)`` sends it.
    public struct RawRequest: Hashable, Sendable {
        /// `GET`, `POST`, `PATCH`, `PUT` or `DELETE`.
        public var method: String
        /// The path below the database, as plain names: each is percent-encoded, so that a layout may be named "A/B".
        public var path: [String]
        /// The parameters of the URL, as plain texts. They are sent in the order of their names. Their values are never
        /// printed.
        public var query: [String: String]
        /// The JSON of the body, sent as it is; `nil` for none. It is never printed.
        public var body: Data?

        /// Creates a request; see the properties for its parts.
        public init(_ method: String, _ path: [String], query: [String: String] = [:], body: Data? = nil) {
            self.method = method
            self.path = path
            self.query = query
            self.body = body
        }
    }
}

extension DataAPI.RawRequest: CustomStringConvertible, CustomReflectable {
    /// The method and the path.
    public var description: String { "\(method) /\(path.joined(separator: "/"))" }

    /// Shows the ``description`` only.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

extension DataAPIRequest where Response == RawAnswer {
    static func raw(_ request: DataAPI.RawRequest, in database: String) throws(FMRest.APIError) -> Self {
        guard ["GET", "POST", "PATCH", "PUT", "DELETE"].contains(request.method) else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "The method of a request is GET, POST, PATCH, PUT or DELETE, not \"\(request.method)\"."
            )
        }
        guard let first = request.path.first else {
            throw FMRest.APIError(.invalidRequest, reason: "A request needs a path below the database.")
        }
        guard first != "sessions" else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A session is opened when a call needs one; a request cannot open or end it.",
                hint: "logOut() ends it."
            )
        }
        let options = request.query.sorted { $0.key < $1.key }.map { name, value in
            WireOption(name: name, value: .text(value), disclosure: .hidden)
        }
        let runsScript =
            request.path.count > 2 && request.path[2] == "script"
            || request.query.keys.contains { $0.hasPrefix("script") }
        return Self(
            method: HTTPMethod(rawValue: request.method),
            path: request.path.reduce(.database(database), /),
            options: options,
            body: request.body.map { .raw(ByteBuffer(bytes: $0)) } ?? .none,
            isSafeToRepeat: request.method == "GET" && !runsScript
        )
    }
}

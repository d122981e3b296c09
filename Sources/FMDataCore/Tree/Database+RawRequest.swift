public import Foundation
public import OpenCombine

extension DataAPI.Database {
    /// Sends a request that this library has no call for, in one of the database's sessions.
    ///
    /// ```swift
    /// let request = DataAPI.RawRequest("GET", ["layouts", "Contacts", "records"], query: ["_limit": "1"])
    /// let json = try await database.rawAnswer(to: request).firstValue()
    /// print(String(decoding: json, as: UTF8.self).contains("Ada Lovelace"))       // true
    /// ```
    ///
    /// Publishes the JSON of the answer as the server sent it, with its messages. Fails like every call: with
    /// FileMaker's code if the first message has another one than 0, and with ``FMRest/APIError/Code/invalidRequest``
    /// for another method than those of ``DataAPI/RawRequest/method`` and for a path that opens or ends a session. Only
    /// a `GET` that runs no script may be sent twice.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func rawAnswer(
        to request: DataAPI.RawRequest,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Data, FMRest.APIError> {
        perform { try .raw(request, in: self.name) }
            .map(\.json)
            .delivered(on: isolation, by: self, mayHaveWritten: request.method != "GET")
    }
}

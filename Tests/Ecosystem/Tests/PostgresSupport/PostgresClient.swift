import CLibPQ
import Dispatch
import Foundation

/// A client of Postgres with one connection, which runs one statement at a time on a queue of its own.
///
/// It is unchecked since the connection is used on the queue alone.
public final class PostgresClient: @unchecked Sendable {
    /// What the database has refused, without the statement and its values.
    public struct Failure: Error {
        /// The SQLSTATE; that of a lost connection, if there was no answer.
        public let state: String
    }

    private let queue = DispatchQueue(label: "PostgresClient")
    private let folder: String
    private var connection: OpaquePointer?

    /// A client of the server whose socket is in this folder. It connects for the first statement.
    public init(socketFolder: String) {
        folder = socketFolder
    }

    deinit { PQfinish(connection) }

    /// Runs a statement with its values, and returns the rows as texts.
    public func query(_ sql: String, _ values: [String?] = []) async throws -> [[String?]] {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.run(sql, values) }) }
        }
    }

    private func run(_ sql: String, _ values: [String?]) throws -> [[String?]] {
        if PQstatus(connection) != CONNECTION_OK {
            PQfinish(connection)
            connection = PQconnectdb("host='\(folder)' user=fm dbname=postgres connect_timeout=10")
        }
        guard PQstatus(connection) == CONNECTION_OK else { throw Failure(state: "08001") }
        let texts = values.map { $0.map { strdup($0) } ?? nil }
        defer { for text in texts { free(text) } }
        let result = PQexecParams(
            connection,
            sql,
            Int32(values.count),
            nil,
            texts.map { UnsafePointer($0) },
            nil,
            nil,
            0
        )
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            return (0..<PQntuples(result)).map { row in
                (0..<PQnfields(result)).map { column in
                    if PQgetisnull(result, row, column) == 1 { return nil }
                    return PQgetvalue(result, row, column).map { String(cString: $0) }
                }
            }
        default:
            let state = PQresultErrorField(result, Int32(UInt8(ascii: "C")))
            throw Failure(state: state.map { String(cString: $0) } ?? "08006")
        }
    }
}

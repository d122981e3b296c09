import ArgumentParser
import FMData
import Foundation

/// A command's connections to a host. They end with a logout, whether the command succeeds, fails or is interrupted.
actor HostVisit {
    private let options: ConnectionOptions
    private var servers: [DataAPI.Server] = []

    private init(_ options: ConnectionOptions) { self.options = options }

    /// A database. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - otherName: The name of a different database, for a test that expects a refusal.
    ///   - dateFormats: The format of dates in requests and answers.
    func open(_ otherName: String? = nil, dateFormats: DataAPI.DateFormats = .us) throws -> DataAPI.Database {
        let database = try options.open(otherName, dateFormats: dateFormats)
        servers.append(database.server)
        return database
    }

    /// The server, for what needs no database. Nothing is sent yet.
    func openServer() throws -> DataAPI.Server {
        let server = try options.openServer()
        servers.append(server)
        return server
    }

    private func logOut() async {
        for server in servers { _ = await server.shutdown().awaitSingleResult() }
    }

    private enum End: Sendable {
        case done(Result<Void, any Error>)
        case interrupted(by: Int32)
    }

    /// Runs a command's work, then logs out. Ctrl-C and SIGTERM cancel the work and log out too; a second signal ends
    /// the program without waiting for that.
    static func make(
        with options: ConnectionOptions,
        _ work: @escaping @Sendable (HostVisit) async throws -> Void
    ) async throws {
        let visit = HostVisit(options)
        let interruption = await Interruption()
        let end = await withTaskGroup(of: End?.self) { group in
            group.addTask {
                do {
                    return .done(.success(try await work(visit)))
                } catch {
                    return .done(.failure(error))
                }
            }
            group.addTask { await interruption.wait().map { .interrupted(by: $0) } }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        await visit.logOut()
        switch end {
        case .done(let result): try result.orExit()
        case .interrupted(let signal): throw ExitStatus.interrupted(by: signal)
        case nil: throw CancellationError()
        }
    }
}

extension Result where Success == Void, Failure == any Error {
    /// Ends the command with the status of its error.
    fileprivate func orExit() throws {
        do {
            try get()
        } catch let error as FMRest.APIError where error.code == .invalidRequest && error.httpStatus == nil {
            // The request could not be sent: for example an invalid host, or plain HTTP to another machine.
            throw ValidationError([error.reason, ErrorText.hint(for: error)].compactMap(\.self).joined(separator: " "))
        } catch let error as FMRest.APIError {
            note("Error: \(ErrorText(error))")
            throw ExitStatus(error).code
        }
    }
}

import ArgumentParser
import FMData
import Foundation

/// The time that a command spends at a host: it ends with a logout, whatever the command came to and whoever ended it.
actor HostVisit {
    private let options: ConnectionOptions
    private var servers: [DataAPI.Server] = []

    private init(_ options: ConnectionOptions) { self.options = options }

    /// A database, of which nothing has been asked yet.
    ///
    /// - Parameters:
    ///   - otherName: of another database than the one that is meant, for whoever wants to see it refused.
    ///   - dateFormats: how dates travel.
    func open(_ otherName: String? = nil, dateFormats: DataAPI.DateFormats = .us) throws -> DataAPI.Database {
        let database = try options.open(otherName, dateFormats: dateFormats)
        servers.append(database.server)
        return database
    }

    private func logOut() async {
        for server in servers { _ = await server.shutdown().awaitSingleResult() }
    }

    private enum End: Sendable {
        case done(Result<Void, any Error>)
        case interrupted(by: Int32)
    }

    /// Lets a command work, and logs out behind it. Ctrl-C and SIGTERM cancel the work and log out too; who does not want to wait
    /// for that sends them again.
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
    /// Ends the command, with the status that tells what went wrong.
    fileprivate func orExit() throws {
        do {
            try get()
        } catch let error as FMRest.APIError where error.code == .invalidRequest && error.httpStatus == nil {
            // It could not be sent as it is: a host that is none, plain HTTP to another machine.
            throw ValidationError([error.reason, ErrorText.hint(for: error)].compactMap(\.self).joined(separator: " "))
        } catch let error as FMRest.APIError {
            note("Error: \(ErrorText(error))")
            throw ExitStatus(error).code
        }
    }
}

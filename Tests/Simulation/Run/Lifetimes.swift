import FMData

@testable import FMDataCore
@testable import FMHTTP

/// The objects that must be deallocated when a world has ended.
struct Lifetimes {
    weak var server: DataAPI.Server?
    weak var database: DataAPI.Database?
    weak var pool: SessionPool?
    weak var client: HTTPClient?

    var survivors: [String] {
        [
            server.map { _ in "the server object" }, database.map { _ in "the database object" },
            pool.map { _ in "the pool of sessions" }, client.map { _ in "the HTTP client" },
        ].compactMap(\.self)
    }
}

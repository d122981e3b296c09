import FMData
import OpenCombine

@MainActor
final class Window {
    func place(_ server: DataAPI.Server) async throws -> String {
        try await server.getProductInfo().map { _ in here() }.firstValue()
    }
}

/// An actor that can be distinguished from the background, since it runs on a queue of its own.
actor Clerk {
    private let executor = ClerkExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func place(_ server: DataAPI.Server) async throws -> String {
        try await server.getProductInfo().map { _ in here() }.firstValue()
    }

    func placeWhenWaiting(_ server: DataAPI.Server) async throws -> String { try await waiting(server) }
    func placeWhenNonisolated(_ server: DataAPI.Server) async throws -> String {
        try await nonisolatedAndWaiting(server)
    }
    func placeWhenNonsending(_ server: DataAPI.Server) async throws -> String { try await nonsending(server) }
}

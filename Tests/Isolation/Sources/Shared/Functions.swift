import FMData
import OpenCombine

// Functions outside of any type, with different isolation.

func plain(_ server: DataAPI.Server) -> AnyPublisher<String, FMRest.APIError> {
    server.getProductInfo().map { _ in here() }.eraseToAnyPublisher()
}

nonisolated func nonisolatedOne(_ server: DataAPI.Server) -> AnyPublisher<String, FMRest.APIError> {
    server.getProductInfo().map { _ in here() }.eraseToAnyPublisher()
}

func waiting(_ server: DataAPI.Server) async throws -> String {
    try await server.getProductInfo().map { _ in here() }.firstValue()
}

nonisolated func nonisolatedAndWaiting(_ server: DataAPI.Server) async throws -> String {
    try await server.getProductInfo().map { _ in here() }.firstValue()
}

nonisolated(nonsending) func nonsending(_ server: DataAPI.Server) async throws -> String {
    try await server.getProductInfo().map { _ in here() }.firstValue()
}

@concurrent nonisolated func concurrent(_ server: DataAPI.Server) async throws -> String {
    try await server.getProductInfo().map { _ in here() }.firstValue()
}

import Dispatch
import FMData
import FMSandbox
import OpenCombine

// The same call in code of every isolation, and where its value arrived.
DispatchQueue.main.setSpecific(key: Turn.key, value: "the main actor")
let sandbox = try await Sandbox.start()
let server = DataAPI.Server(host: sandbox.url)
let clerk = Clerk()

print("main.swift:", try await server.getProductInfo().map { _ in here() }.firstValue())
print("@MainActor class:", try await Window().place(server))
print("actor:", try await clerk.place(server))
print("Task { }:", try await Task { try await server.getProductInfo().map { _ in here() }.firstValue() }.value)
print("Task.detached { }:", try await Task.detached { [server] in try await nonisolatedAndWaiting(server) }.value)
print("func:", try await unmarked(server).firstValue())
print("nonisolated func:", try await markedNonisolated(server).firstValue())
print("async func:", try await unmarkedAndWaiting(server))
print("async func, called by an actor:", try await clerk.placeOfUnmarked(server))
print("nonisolated async func:", try await nonisolatedAndWaiting(server))
print("nonisolated async func, called by an actor:", try await clerk.placeOfNonisolated(server))
print("nonisolated(nonsending) async func:", try await nonsending(server))
print("nonisolated(nonsending) async func, called by an actor:", try await clerk.placeOfNonsending(server))
print("@concurrent async func:", try await concurrent(server))

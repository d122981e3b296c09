import Dispatch
import FMData
import FMSandbox
import OpenCombine
import OpenCombineDispatch

// The same call in code of every isolation; each line prints where its value has arrived.
DispatchQueue.main.setSpecific(key: Turn.key, value: "the main actor")
let sandbox = try await Sandbox.start()
let server = DataAPI.Server(host: sandbox.url)
let clerk = Clerk()

print("the top level of a `main.swift`:", try await server.getProductInfo().map { _ in here() }.firstValue())
print("a `@MainActor` class:", try await Window().place(server))
print("an actor:", try await clerk.place(server))
print(
    "a `Task` of the main actor:",
    try await Task { try await server.getProductInfo().map { _ in here() }.firstValue() }.value
)
print(
    "a detached task:",
    try await Task.detached { [server] in try await server.getProductInfo().map { _ in here() }.firstValue() }.value
)
print("a function, subscribed to on the main actor:", try await plain(server).firstValue())
print(
    "a function, subscribed to elsewhere:",
    try await plain(server).subscribe(on: DispatchQueue.global()).firstValue()
)
print("a `nonisolated` function, subscribed to on the main actor:", try await nonisolatedOne(server).firstValue())
print(
    "a `nonisolated` function, subscribed to elsewhere:",
    try await nonisolatedOne(server).subscribe(on: DispatchQueue.global()).firstValue()
)
print("an `async` function, called by the main actor:", try await waiting(server))
print("an `async` function, called by an actor:", try await clerk.placeWhenWaiting(server))
print("a `nonisolated` `async` function, called by the main actor:", try await nonisolatedAndWaiting(server))
print("a `nonisolated` `async` function, called by an actor:", try await clerk.placeWhenNonisolated(server))
print("a `nonisolated(nonsending)` function, called by the main actor:", try await nonsending(server))
print("a `nonisolated(nonsending)` function, called by an actor:", try await clerk.placeWhenNonsending(server))
print("a `@concurrent` function:", try await concurrent(server))

try await useRecords(server)
try await useRecordsInTheBackground(server)
try await Desk(server).useEveryOperator()

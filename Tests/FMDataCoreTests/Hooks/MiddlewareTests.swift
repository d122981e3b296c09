import CustomDump
import FMData
import FMSandbox
import FMTestHost
import FMTestSupport
import Foundation
import NIOHTTP1
import OpenCombine
import Testing

@testable import FMDataCore

/// The steps that requests go through, from the public API down to the socket.
@Suite(.timeLimit(.minutes(15))) struct MiddlewareTests {
    private static let refusal = FMRest.APIError(.unauthorized, reason: "The gateway's key has expired.")

    private typealias Create = Result<DataAPI.CreateResponse, FMRest.APIError>

    // MARK: Order

    @Test func stepsOfTheServerComeBeforeThoseOfTheCallAndSeeTheResponseAfterThem() async throws {
        let lines = Locked<[String]>([])
        func step(_ name: String) -> DataAPI.Middleware {
            DataAPI.Middleware { request, next in
                lines.change { $0.append("\(name) asks") }
                return next(request).handleEvents(receiveOutput: { part in
                    if let status = part.status { lines.change { $0.append("\(name) sees \(status)") } }
                })
                .eraseToAnyPublisher()
            }
        }
        try await World.run(client: { $0.middleware = [step("a"), step("b")] }) { world in
            let server = world.database.server.callOptions { $0.middleware.append(step("c")) }
            _ = try await server.getProductInfo().firstValue()
        }
        expectNoDifference(
            Array(lines.value.prefix(6)),
            ["a asks", "b asks", "c asks", "c sees 200", "b sees 200", "a sees 200"]
        )
    }

    @Test func stepsThatOnlyChangeAreCalledInOrderToo() async throws {
        func named(_ name: String) -> DataAPI.Middleware {
            DataAPI.Middleware(changing: { request in
                request.headers["X-Way"] = (request.headers["X-Way"] ?? "") + name
            })
        }
        let seeing = DataAPI.Middleware { request, next in
            var request = request
            request.headers["X-Way"] = (request.headers["X-Way"] ?? "") + "b"
            return next(request)
        }
        try await ScriptedHost.run(
            client: { $0.middleware = [named("a"), seeing, named("c")] },
            answer: { _ in .record("Name", "Ada") }
        ) { host in
            _ = try await host.layout.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(host.calls[0].headers["X-Way"], ["abc"])
        }
    }

    @Test func aStepOfSomeOperationsDoesNotSeeOthers() async throws {
        let seen = Locked<[DataAPI.Operation]>([])
        let logins = DataAPI.Middleware(of: [.logIn, .logOut]) { request, next in
            seen.change { $0.append(request.operation) }
            return next(request)
        }
        try await World.run(client: { $0.middleware = [logins] }) { world in
            _ = try await world.contacts.getRecords().returnAs(FieldData.self).firstValue()
            _ = try await world.database.server.getProductInfo().firstValue()
            _ = try await world.database.logOut().firstValue()
        }
        expectNoDifference(seen.value, [.logIn, .logOut])
    }

    // MARK: What may be changed

    @Test func headersArriveAsTheStepsSetThem() async throws {
        try await ScriptedHost.run(
            client: { config in
                config.middleware = [
                    .headers(["X-Gateway": "4711", "User-Agent": "Harbor/1"]),
                    DataAPI.Middleware { request, next in
                        var request = request
                        request.headers.add("X-Trace", "a")
                        request.headers.add("X-Trace", "b")
                        request.headers["Accept"] = nil
                        return next(request)
                    },
                ]
            },
            answer: { _ in .record("Name", "Ada") }
        ) { host in
            _ = try await host.layout.getRecords().returnAs(FieldData.self).firstValue()
            for request in host.server.requests {
                expectNoDifference(request.headers["X-Gateway"], ["4711"])
                expectNoDifference(request.headers["User-Agent"], ["Harbor/1"])
                expectNoDifference(request.headers["X-Trace"], ["a", "b"])
                expectNoDifference(request.headers["Accept"], [])
            }
            expectNoDifference(host.calls.map(\.token), ["T1"], "what authenticates the request is still there")
        }
    }

    @Test func aNameWithSeveralValuesReplacesThoseBefore() async throws {
        let several = DataAPI.Headers([(name: "X-Role", value: "a"), (name: "x-role", value: "b")])
        try await ScriptedHost.run(
            client: { $0.middleware = [.headers(["X-Role": "c"]), .headers(several)] },
            answer: { _ in .record("Name", "Ada") }
        ) { host in
            _ = try await host.layout.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(host.calls[0].headers["X-Role"], ["a", "b"])
        }
    }

    @Test(arguments: DataAPI.OutgoingRequest.reservedHeaders.sorted())
    func aHeaderOfTheClientsOwnCannotBeSet(name: String) async throws {
        let capitals = name.split(separator: "-").map(\.capitalized).joined(separator: "-")
        let headers = DataAPI.Headers([(name: capitals, value: "x")])
        try await World.run(client: { $0.middleware = [.headers(headers)] }) { world in
            let error = await world.database.server.getProductInfo().awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            expectNoDifference(error?.reason, "A middleware cannot set the header \(capitals).")
            #expect(world.sandbox.counters.requests.isEmpty)
        }
    }

    @Test func aWriteWithSuchAHeaderIsNotSent() async throws {
        try await World.run { world in
            let contacts = world.contacts.callOptions { $0.middleware = [.headers(["Authorization": "Basic x"])] }
            let error = await contacts.createRecord().awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            expectNoDifference(error?.outcomeIsUnknown, false)
            expectNoDifference(error?.request?.method, "POST")
            expectNoDifference(world.sandbox.counters.requests[.createRecord], nil)
        }
    }

    @Test func anotherRootIsThatOfEveryPath() async throws {
        let root = DataAPI.Middleware { request, next in
            var request = request
            request.rootPath = "/otto" + request.rootPath
            return next(request)
        }
        try await ScriptedHost.run(client: { $0.middleware = [root] }, answer: { _ in .record("Name", "Ada") }) {
            host in
            _ = try await host.layout.getRecords().returnAs(FieldData.self).firstValue()
            _ = try await host.database.logOut().firstValue()
            let paths = host.server.requests.map { $0.target.split(separator: "?")[0] }
            expectNoDifference(
                paths,
                [
                    "/otto/fmi/data/vLatest/databases/Harbor/sessions",
                    "/otto/fmi/data/vLatest/databases/Harbor/layouts/People/records",
                    "/otto/fmi/data/vLatest/databases/Harbor/sessions/T1",
                ]
            )
        }
    }

    @Test func theBodyCanBeReadAndIsSentEvenSo() async throws {
        let bodies = Locked<[String]>([])
        let reading = DataAPI.Middleware { request, next in
            request.body.reduce(Data(), +)
                .flatMap { body in
                    bodies.change { $0.append("\(request.bodyLength): \(String(decoding: body, as: UTF8.self))") }
                    return next(request)
                }
                .eraseToAnyPublisher()
        }
        try await World.run { world in
            let contacts = world.contacts.callOptions { $0.middleware = [reading] }
            let id = try await contacts.createRecord(["City": "Oslo"]).firstValue().recordId
            let record = try await world.contacts.record(id: id).returnAs(FieldData.self).firstValue()
            expectNoDifference(record.data[0].fieldData["City"]?.text, "Oslo")
        }
        expectNoDifference(bodies.value, [#"29: {"fieldData":{"City":"Oslo"}}"#])
    }

    // MARK: Without the host

    @Test func aStepAnswersByItself() async throws {
        let maintenance = DataAPI.Middleware { request, next in
            guard request.operation == .getRecords else { return next(request) }
            let parts: [DataAPI.ResponsePart] = .records("Ada", "Zoe")
            return parts.publisher.setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
        }
        try await World.run(client: { $0.middleware = [maintenance] }) { world in
            let records = try await world.contacts.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(records.data.map { $0.fieldData["Name"]?.text }, ["Ada", "Zoe"])
            let streamed = try await world.contacts.records(FieldData.self).collect().firstValue()
            expectNoDifference(streamed.map(\.recordId), [1, 2])
            expectNoDifference(world.sandbox.counters.requests[.getRecords], nil)
        }
    }

    @Test func aStepRefusesAWriteBeforeItIsSent() async throws {
        try await World.run(client: { $0.middleware = [.failing(Self.refusal, on: .createRecord)] }) { world in
            let error = await world.contacts.createRecord().awaitSingleResult().failure
            expectNoDifference(error?.code, .unauthorized)
            expectNoDifference(error?.reason, Self.refusal.reason)
            expectNoDifference(error?.outcomeIsUnknown, false)
            expectNoDifference(error?.request?.path, "/databases/World/layouts/Contacts/records")
            expectNoDifference(world.sandbox.counters.requests[.createRecord], nil)
        }
    }

    /// Such a step stands alone, or behind one that sees the response.
    @Test(arguments: [[], [DataAPI.Middleware { request, next in next(request) }]])
    func aStepThatOnlyChangesRefusesAWriteBeforeItIsSent(before: [DataAPI.Middleware]) async throws {
        struct Frozen: Error {}
        let refusing = DataAPI.Middleware(changing: { request in
            if request.operation == .createRecord { throw Frozen() }
        })
        try await World.run(client: { $0.middleware = before + [refusing] }) { world in
            let error = await world.contacts.createRecord().awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            #expect(error?.underlying is Frozen)
            expectNoDifference(error?.outcomeIsUnknown, false)
            expectNoDifference(error?.request?.method, "POST")
            expectNoDifference(world.sandbox.counters.requests[.createRecord], nil)
        }
    }

    @Test func aStepRefusesALogin() async throws {
        try await World.run(client: { $0.middleware = [.failing(Self.refusal, on: .logIn)] }) { world in
            let error = await world.contacts.createRecord().awaitSingleResult().failure
            expectNoDifference(error?.reason, Self.refusal.reason)
            expectNoDifference(error?.outcomeIsUnknown, false)
            #expect(world.sandbox.counters.requests.isEmpty)
        }
    }

    // MARK: A write is sent once

    /// A step that fails when it has the whole response.
    private static let failingAfterwards = DataAPI.Middleware { request, next in
        guard [.createRecord, .getRecords].contains(request.operation) else { return next(request) }
        return next(request).collect().flatMap { _ in Fail(error: refusal) }.eraseToAnyPublisher()
    }

    @Test func aStepThatFailsAfterAWriteLeavesItsOutcomeUnknown() async throws {
        try await World.run(client: { $0.middleware = [Self.failingAfterwards] }) { world in
            let error = await world.contacts.createRecord().awaitSingleResult().failure
            expectNoDifference(error?.reason, Self.refusal.reason)
            expectNoDifference(error?.outcomeIsUnknown, true)
            expectNoDifference(world.sandbox.counters.executedWrites, 1)
        }
    }

    @Test func aStepThatFailsAfterAReadDoesNot() async throws {
        try await World.run(client: { $0.middleware = [Self.failingAfterwards] }) { world in
            let error = await world.contacts.getRecords().returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(error?.reason, Self.refusal.reason)
            expectNoDifference(error?.outcomeIsUnknown, false)
        }
    }

    /// A step that sends each request twice and passes the second response on.
    private static let sendingTwice = DataAPI.Middleware { request, next in
        guard [.createRecord, .getRecords].contains(request.operation) else { return next(request) }
        return next(request).collect().flatMap { _ in next(request) }.eraseToAnyPublisher()
    }

    @Test func aStepCannotSendAWriteTwice() async throws {
        try await World.run(client: { $0.middleware = [Self.sendingTwice] }) { world in
            let error = await world.contacts.createRecord().awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            expectNoDifference(error?.outcomeIsUnknown, true, "the first one may have been carried out")
            expectNoDifference(world.sandbox.counters.requests[.createRecord], 1)
            expectNoDifference(world.sandbox.counters.executedWrites, 1)
        }
    }

    @Test func aStepCanSendAReadTwice() async throws {
        try await World.run(client: { $0.middleware = [Self.sendingTwice] }) { world in
            let records = try await world.contacts.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(records.data.count, 3)
            expectNoDifference(world.sandbox.counters.requests[.getRecords], 2)
        }
    }

    // MARK: Cancelling

    @Test func cancellingReachesTheSocket() async throws {
        let cancelled = Locked(0)
        let watching = DataAPI.Middleware { request, next in
            next(request).handleEvents(receiveCancel: { cancelled.change { $0 += 1 } }).eraseToAnyPublisher()
        }
        try await ScriptedHost.run(client: { $0.middleware = [watching] }, answer: { _ in .silence }) { host in
            let call = host.layout.getRecords().returnAs(FieldData.self)
            let subscription = call.sink(receiveCompletion: { _ in }, receiveValue: { _ in })
            await host.server.requestCount(atLeast: 2)
            subscription.cancel()
            await host.server.allConnectionsClosed()
            expectNoDifference(cancelled.value, 1)
        }
    }

    // MARK: Attempts

    @Test func attemptsAreCountedOverRepetitions() async throws {
        let attempts = Locked<[String]>([])
        let counting = DataAPI.Middleware.noting(attempts) { "\($0.operation) \($0.attempt)" }
        try await World.run { world in
            _ = try await world.database.getScriptNames().firstValue()
            world.sandbox.inject(.error(FileMakerError(301)), on: .editRecord, count: 2)
            let contacts = world.contacts.retrying(DataAPI.RetryPolicy(firstPause: .zero, jitter: 0))
                .callOptions { $0.middleware = [counting] }
            _ = try await contacts.editRecord(["City": "Kiel"], recordId: 1).firstValue()
            world.sandbox.inject(.html(status: 503), on: .productInfo, count: 1)
            let server = world.database.server.retrying(DataAPI.RetryPolicy(firstPause: .zero, jitter: 0))
                .callOptions { $0.middleware = [counting] }
            _ = try await server.getProductInfo().firstValue()
        }
        expectNoDifference(
            attempts.value,
            ["editRecord 1", "editRecord 2", "editRecord 3", "productInfo 1", "productInfo 2"]
        )
    }

    @Test func anAttemptInAnotherSessionIsCounted() async throws {
        let attempts = Locked<[String]>([])
        let counting = DataAPI.Middleware.noting(attempts) { "\($0.operation) \($0.attempt)" }
        try await World.run(client: { $0.middleware = [counting] }) { world in
            _ = try await world.database.getScriptNames().firstValue()
            world.sandbox.inject(.expireToken, on: .createRecord)
            _ = try await world.contacts.createRecord().firstValue()
            expectNoDifference(
                attempts.value,
                ["logIn 1", "scriptNames 1", "createRecord 1", "logIn 1", "createRecord 2"]
            )
        }
    }

    // MARK: Secrets

    @Test func nothingThatIsPrintedIsSecret() async throws {
        let secret = "s3cret"
        let printed = Locked<[String]>([])
        @Sendable func note(_ value: Any) {
            var dumped = ""
            dump(value, to: &dumped)
            var difference = ""
            customDump(value, to: &difference)
            let children = Mirror(reflecting: value).children.map { "\($0)" }
            printed.change { $0 += ["\(value)", String(reflecting: value), dumped, difference] + children }
        }
        let printing = DataAPI.Middleware { request, next in
            note(request)
            note(request.headers)
            return next(request).handleEvents(receiveOutput: { part in
                note(part)
                if let headers = part.headers { note(headers) }
            })
            .eraseToAnyPublisher()
        }
        let tokens = Locked<[String]>([])
        try await World.run(client: { $0.middleware = [.headers(["X-Gateway": secret]), printing] }) { world in
            let contacts = world.contacts
            let id = try await contacts.createRecord(["Notes": .text(secret)]).firstValue().recordId
            tokens.change { $0 = world.database.pool.openTokens.map(\.value) }
            _ = try await contacts.runScript("Echo", parameter: .confidential(secret)).firstValue()
            let file = FMRest.ContainerFile(fileName: "a.txt", data: Data(secret.utf8))
            _ = try await contacts.uploadContainer(file, to: "Photo", recordId: id).firstValue()
            _ = try await contacts.downloadContainer(fieldName: "Photo", recordId: id).toMemory().firstValue()
            _ = try await world.database.logOut().firstValue()
        }
        #expect(printed.value.count > 100)
        #expect(printed.value.contains("createRecord: POST /databases/World/layouts/Contacts/records"))
        #expect(printed.value.contains("head of 200"))
        expectNoDifference(tokens.value.count, 1)
        for word in tokens.value + [secret, Solution.Sample.password, "Streaming_SSL", "X-FMS-Session-Key="] {
            let leaks = printed.value.filter { $0.contains(word) }
            expectNoDifference(leaks, [], "\(word)")
        }
    }
}

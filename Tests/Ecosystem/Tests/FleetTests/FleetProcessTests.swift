import FMData
import FMSandbox
import Foundation
import OpenCombine
import Programs
import Testing

@testable import FMDataFleet

/// Real processes, a real store and a host that allows four sessions. Leases run out by the clock, so they need a
/// machine that does nothing else meanwhile: `.ci/thorough` sets the variable.
@Suite(
    .enabled(if: Store.path != nil, "neither redis-server nor valkey-server is installed"),
    .enabled(if: ProcessInfo.processInfo.environment["FMDATA_PROCESSES"] != nil, "FMDATA_PROCESSES is not set"),
    .timeLimit(.minutes(10)),
    .serialized
)
struct FleetProcessTests {
    private struct Contact: LayoutRecord {
        static let layout = "Contacts"

        var name: String

        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    private static let key = String(repeating: "5a", count: 32)

    private func withHost(_ body: (Store, Sandbox) async throws -> Void) async throws {
        let store = try Store()
        defer { store.stop() }
        var configuration = Sandbox.Configuration()
        // As long as a busy machine may need; a real server closes connections after 5 s without a request.
        configuration.keepAlive = .seconds(600)
        configuration.maximumSessions = 4
        let host = try await Sandbox.start([.sample], configuration: configuration)
        try await body(store, host)
        await host.stop()
    }

    private func start(
        _ count: Int,
        _ store: Store,
        _ host: Sandbox,
        password: String = Solution.Sample.password
    ) async throws -> [Program] {
        try await start(count, store.url, host, password: password)
    }

    private func start(
        _ count: Int,
        _ store: String,
        _ host: Sandbox,
        password: String = Solution.Sample.password
    ) async throws -> [Program] {
        var members: [Program] = []
        for _ in 0..<count {
            let member = try Program(memberPath, [host.url, store, Self.key, "4", password])
            #expect(await member.line() == "ready")
            members.append(member)
        }
        return members
    }

    /// Has each make so many calls at once, and returns how many succeeded.
    private func ask(_ members: [Program], _ calls: Int) async -> [String] {
        for member in members { member.say("\(calls)") }
        var answers: [String] = []
        for member in members { answers.append(await member.line() ?? "ended") }
        return answers
    }

    private func expectLine(_ line: String, of member: Program) async {
        let printed = await member.line()
        #expect(printed == line)
    }

    @Test func eightProcessesShareFourSessionsAlsoWhenTwoAreKilledAndAllAreStartedAgain() async throws {
        try await withHost { store, host in
            let members = try await start(8, store, host)
            #expect(await ask(members, 40) == Array(repeating: "done 40", count: 8))
            #expect(host.counters.logins <= 4)
            // Two are killed while they work.
            for member in members { member.say("40") }
            for member in members[..<2] { member.killNow() }
            for member in members[2...] { await expectLine("done 40", of: member) }
            #expect(await ask(Array(members[2...]), 40) == Array(repeating: "done 40", count: 6))
            for member in members[2...] { await member.finish() }
            // The slots of the dead pass on with their sessions.
            let logins = host.counters.logins
            let next = try await start(8, store, host)
            #expect(await ask(next, 20) == Array(repeating: "done 20", count: 8))
            #expect(host.counters.logins == logins)
            for member in next { await member.finish() }
            #expect(host.counters.mostOpenSessions <= 4)
            #expect(host.counters.failedLogins == 0)
        }
    }

    /// The host has opened a session whose token nobody has.
    @Test func aProcessThatIsKilledDuringItsLoginLeavesOneStray() async throws {
        try await withHost { store, host in
            host.inject(.holdAnswer, on: .login)
            let killed = try await start(1, store, host)[0]
            killed.say("1")
            while host.counters.openSessions == 0, !Task.isCancelled { await Task.yield() }
            killed.killNow()
            let members = try await start(5, store, host)
            #expect(await ask(members, 40) == Array(repeating: "done 40", count: 5))
            let status = try await FleetStatus.read(from: try #require(StoreAddress(url: store.url)))
            #expect(status.pools.map(\.strays) == [1])
            #expect(host.counters.mostOpenSessions <= 4)
            for member in members { await member.finish() }
        }
    }

    /// The host keeps the sessions of the dead, which the store has forgotten: it is full, and no call fails.
    @Test func twentyThousandCallsOutliveTwoDeathsAndAnEmptyStore() async throws {
        try await withHost { store, host in
            let members = try await start(8, store, host)
            #expect(await ask(members, 20) == Array(repeating: "done 20", count: 8))
            for member in members { member.say("2500") }
            for member in members[..<2] { member.killNow() }
            store.killNow()
            try store.start()
            for member in members[2...] { await expectLine("done 2500", of: member) }
            #expect(host.counters.mostOpenSessions <= 4)
            for member in members[2...] { await member.finish() }
        }
    }

    /// What a process was doing when it was stopped.
    enum Phase: CaseIterable {
        case idle, request, login, put, give
    }

    @Test(arguments: Phase.allCases)
    func aProcessThatStandsStillForLongerThanItsLeaseDisturbsNobody(in phase: Phase) async throws {
        try await withHost { store, host in
            let sleeper = try await start(1, store, host)[0]
            let reader = try StoreReader(store)
            switch phase {
            case .idle:
                #expect(await ask([sleeper], 20) == ["done 20"])
            case .request:
                #expect(await ask([sleeper], 1) == ["done 1"])
                host.inject(.holdAnswer, on: .getRecords)
                sleeper.say("1")
                await host.untilAnswersHeld()
            case .login:
                host.inject(.holdAnswer, on: .login)
                sleeper.say("1")
                await host.untilAnswersHeld()
            case .put:
                sleeper.say("1")
                while try await reader.tokenCount() == 0 {}
            case .give:
                #expect(await ask([sleeper], 1) == ["done 1"])
                sleeper.endInput()
                while try await reader.heldCount() == 1 {}
            }
            sleeper.signal(SIGSTOP)
            host.releaseAnswers()
            let others = try await start(4, store, host)
            // More than a lease, so its slot passes on.
            let clock = ContinuousClock()
            let end = clock.now + .seconds(12)
            while clock.now < end {
                #expect(await ask(others, 10) == Array(repeating: "done 10", count: 4))
            }
            sleeper.signal(SIGCONT)
            if [.request, .login, .put].contains(phase) { await expectLine("done 1", of: sleeper) }
            if phase != .give {
                #expect(await ask([sleeper] + others, 20) == Array(repeating: "done 20", count: 5))
            }
            await sleeper.finish()
            // The session of a login whose answer came too late is logged out. Until then the host had room for three
            // others, and the fleet opens no fourth one for a minute.
            #expect(host.counters.logouts == (phase == .login ? 1 : 0))
            #expect(host.counters.openSessions == (phase == .login ? 3 : 4))
            #expect(host.counters.mostOpenSessions <= 4)
            await reader.end()
            for member in others { await member.finish() }
        }
    }

    @Test func theStoreIsKilledAndComesBackEmptyUnderLoad() async throws {
        try await withHost { store, host in
            let members = try await start(6, store, host)
            #expect(await ask(members, 20) == Array(repeating: "done 20", count: 6))
            for member in members { member.say("40") }
            store.killNow()
            try store.start()
            for member in members { await expectLine("done 40", of: member) }
            #expect(await ask(members, 20) == Array(repeating: "done 20", count: 6))
            #expect(host.counters.mostOpenSessions <= 4)
            for member in members { await member.finish() }
        }
    }

    /// The master dies, and a Sentinel puts its replica in its place.
    @Test func aFailoverUnderLoadKeepsTheSessions() async throws {
        let store = try await WatchedStore.start()
        defer { store.stop() }
        var configuration = Sandbox.Configuration()
        // As long as a busy machine may need; a real server closes connections after 5 s without a request.
        configuration.keepAlive = .seconds(600)
        configuration.maximumSessions = 4
        let host = try await Sandbox.start([.sample], configuration: configuration)
        let members = try await start(6, store.url, host)
        #expect(await ask(members, 20) == Array(repeating: "done 20", count: 6))
        let logins = host.counters.logins
        for member in members { member.say("40") }
        try await store.killMaster()
        for member in members { await expectLine("done 40", of: member) }
        #expect(await ask(members, 20) == Array(repeating: "done 20", count: 6))
        #expect(host.counters.mostOpenSessions <= 4)
        #expect(host.counters.logins == logins)
        for member in members { await member.finish() }
        await host.stop()
    }

    @Test func aPublisherThatIsKilledLosesNothing() async throws {
        try await withHost { store, host in
            let world = DataAPI.Server(host: host.url).addDatabase(
                "World",
                credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            )
            let contacts = world.layout(Contact.self)
            let ids = try await contacts.all().map(\.recordId).collect().firstValue()
            var members = try await start(2, store, host)
            for member in members { member.say("publish") }
            for round in 1...4 {
                for id in ids {
                    _ = try await contacts.edit(id, setting: ["Name": .text("\(id) in round \(round)")]).firstValue()
                }
                // Whoever of them publishes: the other one goes on, or both do as before.
                members.removeFirst().killNow()
                members += try await start(1, store, host)
                members[1].say("publish")
            }
            let reader = try StoreReader(store)
            let current = Set(try await contacts.all().map { "\($0.recordId) \($0.modId)" }.collect().firstValue())
            var versions: [String] = []
            while !current.isSubset(of: versions) { versions = try await reader.versions(in: "fm:{contacts}:changes") }
            #expect(Set(versions).count == versions.count)
            await reader.end()
            for member in members { await member.finish() }
            _ = try await world.server.shutdown().firstValue()
        }
    }

    @Test func aWrongPasswordIsSentOnceByEightProcesses() async throws {
        try await withHost { store, host in
            let members = try await start(8, store, host, password: "wrong")
            let answers = await ask(members, 5)
            #expect(answers.allSatisfy { $0.hasPrefix("done 0: ") }, "\(answers)")
            #expect(host.counters.failedLogins == 1)
            for member in members { await member.finish() }
        }
    }

    @Test func nothingReadableIsInTheStore() async throws {
        try await withHost { store, host in
            let keys = try FleetKeys([1: [UInt8](repeating: 9, count: 32)], current: 1)
            let address = try #require(StoreAddress(url: store.url))
            let fleet = Fleet(slots: 2, store: address, keys: keys)
            var config = DataAPI.Config()
            config.sessions.budget = fleet.budget
            let server = DataAPI.Server(host: host.url, config: config)
            let world = server.addDatabase(
                "World",
                credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            )
            _ = try await world.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
            let client = StoreClient.reader(of: address)
            var texts: [[UInt8]] = []
            for key in try await client.send({ _ in RESPCommand("KEYS", "*") }).elements ?? [] {
                guard let name = key.string, name.hasSuffix(":pool") else { continue }
                texts += try await client.send { _ in RESPCommand("HGETALL", name) }.elements?.compactMap(\.bytes) ?? []
            }
            #expect(texts.contains { $0.count > 33 && $0[0] == 1 }, "a sealed token is there")
            let hexDigits = Set("0123456789abcdefABCDEF".utf8)
            for text in texts {
                // The host's tokens are 52 hexadecimal digits.
                let runs = text.split { !hexDigits.contains($0) }.map(\.count)
                #expect((runs.max() ?? 0) < 52)
                #expect(!String(decoding: text, as: UTF8.self).contains(Solution.Sample.password))
            }
            await client.shutdown()
            _ = try await server.shutdown().firstValue()
            await fleet.shutdown()
        }
    }
}

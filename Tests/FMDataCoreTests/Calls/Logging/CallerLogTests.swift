import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Logging
import OpenCombine
import Testing

@testable import FMDataCore

/// The lines of calls carry what the task-local logger of the code that makes them carries.
@Suite(.timeLimit(.minutes(15))) struct CallerLogTests {
    @TaskLocal private static var trace: String?

    private static let provider = Logger.MetadataProvider { trace.map { ["trace": "\($0)"] } ?? [:] }

    private static func run(
        _ level: Logger.Level = .debug,
        provider: Logger.MetadataProvider? = nil,
        _ body: (World) async throws -> Void
    ) async throws -> LogLines {
        let log = LogLines()
        var logger = log.logger(level)
        logger[metadataKey: "service"] = "shop"
        logger.handler.metadataProvider = provider
        try await World.run(client: { $0.logger = logger }, body)
        return log
    }

    /// The lines with this message, each reduced to what this key has.
    private static func values(of key: String, in message: String, _ log: LogLines) -> [String?] {
        log.all.filter { $0.hasPrefix("debug \(message)|") }.map { line in
            line.split(whereSeparator: { " |".contains($0) }).first { $0.hasPrefix("\(key)=") }
                .map { String($0.dropFirst(key.count + 1)) }
        }
    }

    @Test func aCallCarriesTheMetadataOfItsCaller() async throws {
        let log = try await Self.run { world in
            _ = try await world.database.getScriptNames().firstValue()
            try await withLogger(mergingMetadata: ["request.id": "R-1", "service": "other"]) { _ in
                _ = try await world.database.server.getProductInfo().firstValue()
                _ = try await world.countries.getRecords().returnAs(FieldData.self).firstValue()
                _ = try await world.countries.records(FieldData.self).collect().firstValue()
            }
            _ = try await world.database.getScriptNames().firstValue()
        }
        expectNoDifference(Self.values(of: "request.id", in: "call finished", log), [nil, "R-1", "R-1", "R-1", nil])
        // What the configured logger says itself stays.
        expectNoDifference(Set(Self.values(of: "service", in: "call finished", log)), ["shop"])
        // The session serves all.
        expectNoDifference(Self.values(of: "request.id", in: "login finished", log), [nil])
        expectNoDifference(Self.values(of: "request.id", in: "logout finished", log), [nil])
    }

    @Test func aSessionThatACallerOpensIsNotHisAlone() async throws {
        let log = try await Self.run { world in
            try await withLogger(mergingMetadata: ["request.id": "R-1"]) { _ in
                _ = try await world.database.getScriptNames().firstValue()
            }
        }
        expectNoDifference(Self.values(of: "request.id", in: "login finished", log), [nil])
        expectNoDifference(Self.values(of: "request.id", in: "call finished", log), ["R-1"])
    }

    @Test func workOfManyCallsCarriesItToTheEnd() async throws {
        let log = try await Self.run { world in
            let people = world.database.layout(PlainContact.self)
            try await withLogger(mergingMetadata: ["request.id": "R-1"]) { _ in
                _ = try await people.all(pageSize: 1).collect().firstValue()
                let rows = (1...3).map { DataAPI.RecordWrite<PlainContact>.create(PlainContact(name: "New \($0)")) }
                _ = try await people.writing(rows).collect().firstValue()
                let record = try #require(try await people.firstRecord().firstValue())
                var draft = record.draft()
                draft.city = "Oslo"
                _ = try await people.save(draft, onConflict: .merge).firstValue()
                _ = try await people.all(pageSize: 2).joining(people, on: \.fieldData.name, equals: .name).collect()
                    .firstValue()
            }
        }
        for message in ["call finished", "page read", "batch finished"] {
            let ids = Self.values(of: "request.id", in: message, log)
            #expect(!ids.isEmpty, "\(message)")
            expectNoDifference(Set(ids), ["R-1"], "\(message)")
        }
        #expect(Self.values(of: "request.id", in: "page read", log).count > 4)
    }

    @Test func twoCallersAreKeptApart() async throws {
        let log = try await Self.run { world in
            let people = world.database.layout(PlainContact.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...8 {
                    group.addTask {
                        try await withLogger(mergingMetadata: ["request.id": "R-\(number)"]) { _ in
                            _ = try await people.tagged("R-\(number)").all(pageSize: 1).collect().firstValue()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        let callers = Self.values(of: "request.id", in: "call finished", log)
        #expect(callers.count >= 24)
        expectNoDifference(callers, Self.values(of: "fm.tag", in: "call finished", log))
    }

    /// On the threads on which lines are written, providers would find nothing.
    @Test func aMetadataProviderReadsTheTaskOfTheCaller() async throws {
        let log = try await Self.run(provider: Self.provider) { world in
            try await Self.$trace.withValue("T-1") {
                _ = try await world.database.layout(PlainContact.self).all(pageSize: 1).collect().firstValue()
            }
            _ = try await world.database.getScriptNames().firstValue()
        }
        let traces = Self.values(of: "trace", in: "call finished", log)
        expectNoDifference(Set(traces.dropLast()), ["T-1"])
        expectNoDifference(traces.last, .some(nil))
    }

    @Test func aCallsOwnLoggerCarriesItToo() async throws {
        let own = LogLines()
        let log = try await Self.run(.info) { world in
            var logger = own.logger(.debug)
            logger[metadataKey: "request.id"] = "mine"
            try await withLogger(mergingMetadata: ["request.id": "R-1", "user.id": "U-1"]) { _ in
                _ = try await world.countries.logger(logger).getRecords().returnAs(FieldData.self).firstValue()
            }
        }
        expectNoDifference(log.all, [])
        expectNoDifference(Self.values(of: "request.id", in: "call finished", own), ["mine"])
        expectNoDifference(Self.values(of: "user.id", in: "call finished", own), ["U-1"])
    }

    /// A poll is the work of the query, whoever happens to cause it.
    @Test func aPollHasNoCaller() async throws {
        let log = LogLines()
        try await World.run(client: { $0.logger = log.logger(.debug) }) { world in
            await withLogger(mergingMetadata: ["request.id": "R-1"]) { _ in
                let live = world.database.layout(PlainContact.self).live(isolation: nil)
                    .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
                await until { log.messages.contains("debug poll finished") }
                live.cancel()
            }
        }
        expectNoDifference(Set(Self.values(of: "request.id", in: "call finished", log)), [nil])
        expectNoDifference(Set(Self.values(of: "request.id", in: "poll finished", log)), [nil])
    }
}

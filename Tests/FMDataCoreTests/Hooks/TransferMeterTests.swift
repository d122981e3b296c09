import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Logging
import OpenCombine
import Testing

@testable import FMDataCore

/// The meter of what a host sends.
@Suite(.timeLimit(.minutes(15))) struct TransferMeterTests {
    private typealias Meter = DataAPI.TransferMeter

    /// A database in memory, each of whose answers has this many bytes.
    private func database(_ name: String = "Harbor", of meter: Meter, answering bytes: Int) -> DataAPI.Database {
        let transport = MemoryTransport { _, _ in
            let frame = #"{"response":{"scripts":[]},"messages":[{"code":"0","message":"OK"}]}"#
            let body = frame + String(repeating: " ", count: bytes - frame.utf8.count)
            return .success([.head(status: 200, headers: ["Content-Type": "application/json"]), .body(Data(body.utf8))])
        }
        var config = DataAPI.Config()
        config.transport = transport
        config.middleware = [meter.middleware]
        return DataAPI.Server(host: "fms.example.com", config: config)
            .addDatabase(name, credentials: .key("dk_1"))
    }

    @Test func whatArrivesIsCountedByDatabase() async throws {
        let bytes = Locked<[String: Int]>([:])
        let counting = DataAPI.Middleware { request, next in
            next(request).handleEvents(receiveOutput: { part in
                let owner = request.operation == .downloadContainer ? "content" : request.database ?? ""
                bytes.change { $0[owner, default: 0] += part.byteCount }
            })
            .eraseToAnyPublisher()
        }
        let meter = Meter()
        try await World.run(client: { $0.middleware = [counting, meter.middleware] }) { world in
            _ = try await world.database.server.getProductInfo().firstValue()
            _ = try await world.countries.records(FieldData.self).collect().firstValue()
            let file = FMRest.ContainerFile(fileName: "a.txt", data: Data(repeating: 0x61, count: 3_000))
            _ = try await world.contacts.uploadContainer(file, to: "Photo", recordId: 1).firstValue()
            _ = try await world.contacts.downloadContainer(fieldName: "Photo", recordId: 1).toMemory().firstValue()
            _ = await world.contacts.deleteRecord(recordId: 999_999).awaitSingleResult()
        }
        let reading = meter.reading
        expectNoDifference(reading.answers, bytes.value.filter { $0.key != "content" })
        expectNoDifference(reading.answers.keys.sorted(), ["", "World"])
        expectNoDifference(reading.containers, bytes.value["content"])
        #expect(reading.containers >= 3_000)
        expectNoDifference(reading.total, reading.answers.values.reduce(0, +))
        #expect(reading.total > 10_000)
    }

    @Test func eachThresholdIsReportedOnce() async throws {
        let log = LogLines()
        let reached = Locked<[Double]>([])
        let meter = Meter(limit: 1_000, thresholds: [1, 0.5, 0.8], logger: log.logger(.notice)) { part, _ in
            reached.change { $0.append(part) }
        }
        let database = database(of: meter, answering: 100)
        for _ in 1...12 { _ = try await database.getScriptNames().firstValue() }
        expectNoDifference(reached.value, [0.5, 0.8, 1])
        let message = "data transfer has reached a part of its limit"
        expectNoDifference(
            log.all,
            [
                "notice \(message)|bytes=500 limit=1000 percent=50",
                "notice \(message)|bytes=800 limit=1000 percent=80",
                "warning \(message)|bytes=1000 limit=1000 percent=100",
            ]
        )
        expectNoDifference(meter.reading.answers, ["Harbor": 1_200])
    }

    @Test func oneAnswerMayPassSeveral() async throws {
        let reached = Locked<[Double]>([])
        let meter = Meter(limit: 100) { part, _ in reached.change { $0.append(part) } }
        _ = try await database(of: meter, answering: 1_000).getScriptNames().firstValue()
        expectNoDifference(reached.value, [0.5, 0.8, 0.9, 1])
    }

    @Test func aReadingIsKeptAndContinued() async throws {
        let since = Date(timeIntervalSinceReferenceDate: 700_000_000)
        let meter = Meter(limit: 1_000, continuing: Meter.Reading(since: since))
        _ = try await database(of: meter, answering: 850).getScriptNames().firstValue()
        let kept = try JSONEncoder().encode(meter.reading)

        let reached = Locked<[Double]>([])
        let reading = try JSONDecoder().decode(Meter.Reading.self, from: kept)
        expectNoDifference(reading, meter.reading)
        let next = Meter(limit: 1_000, continuing: reading) { part, _ in reached.change { $0.append(part) } }
        _ = try await database("Port", of: next, answering: 100).getScriptNames().firstValue()
        expectNoDifference(next.reading.answers, ["Harbor": 850, "Port": 100])
        expectNoDifference(next.reading.since, since)
        expectNoDifference(reached.value, [0.9], "the others were reported before")
    }

    @Test func itBeginsAnewWhenTheLimitDoes() async throws {
        let reached = Locked<[Double]>([])
        let meter = Meter(limit: 1_000) { part, _ in reached.change { $0.append(part) } }
        let database = database(of: meter, answering: 600)
        _ = try await database.getScriptNames().firstValue()
        let reset = Date(timeIntervalSinceReferenceDate: 800_000_000)
        expectNoDifference(meter.restart(at: reset).total, 600)
        expectNoDifference(meter.reading, Meter.Reading(since: reset))
        _ = try await database.getScriptNames().firstValue()
        expectNoDifference(reached.value, [0.5, 0.5])
    }

    @Test func withoutALimitNothingIsReported() async throws {
        let log = LogLines()
        let meter = Meter(logger: log.logger(.trace))
        _ = try await database(of: meter, answering: 1_000).getScriptNames().firstValue()
        expectNoDifference(log.all, [])
        expectNoDifference(meter.reading.total, 1_000)
    }
}

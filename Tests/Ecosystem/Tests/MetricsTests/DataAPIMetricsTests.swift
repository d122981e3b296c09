import FMData
import FMDataMetrics
import FMSandbox
import Metrics
import MetricsTestKit
import OpenCombine
import Testing

@Suite struct DataAPIMetricsTests {
    /// Runs calls of a database whose figures go to a backend in memory.
    private func figures(
        includesLayouts: Bool = false,
        _ body: (Sandbox, DataAPI.Database, DataAPIMetrics) async throws -> Void
    ) async throws -> TestMetrics {
        let backend = TestMetrics()
        let metrics = DataAPIMetrics(includesLayouts: includesLayouts, factory: backend)
        let sandbox = try await Sandbox.start([.sample])
        var config = DataAPI.Config()
        metrics.install(in: &config)
        config.sessions.maximumSessions = 3
        let server = DataAPI.Server(host: sandbox.url, config: config)
        let database = server.addDatabase(
            "World",
            credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
        )
        try await body(sandbox, database, metrics)
        _ = try await server.shutdown().firstValue()
        await sandbox.stop()
        return backend
    }

    private let getRecords = [
        ("db.system.name", "filemaker"), ("db.operation.name", "getRecords"), ("db.namespace", "World"),
    ]

    @Test func aCallIsCountedWithItsRecordsAndItsBytes() async throws {
        let backend = try await figures { _, database, _ in
            _ = try await database.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
        }
        #expect(try backend.expectTimer("db.client.operation.duration", getRecords).values.count == 1)
        #expect(try backend.expectRecorder("db.client.response.returned_rows", getRecords).values == [100])
        #expect(
            try backend.expectCounter("filemaker.client.bytes", getRecords + [("direction", "received")]).totalValue
                > 1_000
        )
        #expect(backend.counterTotal(label: "filemaker.client.retries") == 0)
        #expect(backend.counterTotal(label: "filemaker.client.logins") == 1)
    }

    @Test func aFailureHasItsCodeAndFileMakers() async throws {
        let backend = try await figures(includesLayouts: true) { _, database, _ in
            let missing = database.addLayout("Contacts").deleteRecord(recordId: 999_999)
            await #expect(throws: FMRest.APIError.self) { try await missing.firstValue() }
        }
        let dimensions = [
            ("db.system.name", "filemaker"), ("db.operation.name", "deleteRecord"), ("db.namespace", "World"),
            ("db.collection.name", "Contacts"), ("error.type", "fileMaker"), ("db.response.status_code", "101"),
        ]
        #expect(try backend.expectTimer("db.client.operation.duration", dimensions).values.count == 1)
    }

    @Test func aCallThatIsTriedAgainIsOneCall() async throws {
        let backend = try await figures { sandbox, database, _ in
            sandbox.inject(.html(status: 503), on: .getRecords, count: 1)
            let patient = database.retrying(.init(firstPause: .milliseconds(1)))
            _ = try await patient.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
        }
        #expect(try backend.expectTimer("db.client.operation.duration", getRecords).values.count == 1)
        #expect(try backend.expectCounter("filemaker.client.retries", getRecords).totalValue == 1)
    }

    @Test func sessionsAreShownWhileTheyAreWatched() async throws {
        let backend = try await figures { _, database, metrics in
            let sessions = metrics.watchSessions(of: database)
            _ = try await database.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
            sessions.cancel()
        }
        let common = [("db.system.name", "filemaker"), ("db.namespace", "World")]
        let used = try backend.expectGauge(
            "db.client.connection.count",
            common + [("db.client.connection.state", "used")]
        )
        #expect(used.values.contains(1))
        #expect(try backend.expectGauge("db.client.connection.max", common).lastValue == 3)
    }

    @Test func whatAMeterHasCountedIsRecorded() async throws {
        var reading = DataAPI.TransferMeter.Reading()
        reading.answers = ["World": 700, "": 30]
        let backend = TestMetrics()
        DataAPIMetrics(factory: backend)
            .record(DataAPI.TransferMeter(limit: 1_000, continuing: reading, thresholds: []))
        let all = [("db.system.name", "filemaker")]
        let world = try backend.expectGauge("filemaker.client.transfer.bytes", all + [("db.namespace", "World")])
        #expect(world.lastValue == 700)
        #expect(try backend.expectGauge("filemaker.client.transfer.bytes", all).lastValue == 30)
        #expect(try backend.expectGauge("filemaker.client.transfer.limit", all).lastValue == 1_000)
    }
}

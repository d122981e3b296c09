import FMData
import FMDataLifecycle
import FMSandbox
import Logging
import OpenCombine
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

@Suite struct DataAPIServiceTests {
    private func world(_ sandbox: Sandbox) -> DataAPI.Database {
        var config = DataAPI.Config()
        config.sessions.logOutDeadline = .seconds(2)
        return DataAPI.Server(host: sandbox.url, config: config)
            .addDatabase(
                "World",
                credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            )
    }

    @Test func theEndOfTheGroupLogsEverySessionOut() async throws {
        let sandbox = try await Sandbox.start([.sample])
        let database = world(sandbox)
        _ = try await database.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
        #expect(sandbox.sessions.count == 1)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await DataAPIService(database.server).run() }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        #expect(sandbox.sessions.count == 0)
        let refused = await #expect(throws: FMRest.APIError.self) {
            try await database.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
        }
        #expect(refused?.code == .shutdown)
        await sandbox.stop()
    }

    @Test func aGroupThatIsCancelledLogsOutAsWell() async throws {
        let sandbox = try await Sandbox.start([.sample])
        let database = world(sandbox)
        _ = try await database.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
        let group = ServiceGroup(
            configuration: .init(services: [.init(service: DataAPIService(database.server))], logger: Logger(label: ""))
        )
        let run = Task { try await group.run() }
        run.cancel()
        _ = await run.result
        #expect(sandbox.sessions.count == 0)
        await sandbox.stop()
    }
}

import CustomDump
import FMData
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// Values of global fields as they go on the wire.
@Suite(.timeLimit(.minutes(15))) struct GlobalsTests {
    @Test(.tags(.earlierClients))
    func globalsAreWrappedAndThePathHasNoSlashAtItsEnd() async throws {
        try await ScriptedHost.run(client: { $0.sessions.maximumSessions = 1 }) { host in
            _ = try await host.database.setGlobals(["T::g": "1"]).firstValue()
            expectNoDifference(host.calls.last?.target, "/fmi/data/vLatest/databases/Harbor/globals")
            expectNoDifference(host.calls.last?.text, #"{"globalFields":{"T::g":"1"}}"#)
        }
    }

    @Test(.tags(.earlierClients))
    func globalsNeedTheirTableAndNoFieldsAreAnEmptyObject() async throws {
        try await ScriptedHost.run(answer: { _ in .json(#"{"recordId":"1","modId":"0"}"#) }) { host in
            let error = await host.database.setGlobals(["gName": "x"]).awaitSingleResult()
                .failure
            expectNoDifference(error?.code, .invalidRequest)
            _ = try await host.layout.createRecord().firstValue()
            _ = try await host.layout.createRecord(record: EditRecord(createRecord: [String: String]()))
                .firstValue()
            expectNoDifference(host.calls.map(\.text), [#"{"fieldData":{}}"#, #"{"fieldData":{}}"#])
        }
    }
}

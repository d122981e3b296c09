import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

/// A gate that several processes share, before each poll of live queries.
@Suite(.timeLimit(.minutes(15))) struct PollGateTests {
    @Test func aPollWaitsForItsTurnAtTheGate() async throws {
        let asked = Locked<[CheckedContinuation<Void, Never>]>([])
        let hosts = Locked<[String]>([])
        let gate = DataAPI.PollGate { host in
            hosts.change { $0.append(host) }
            await withCheckedContinuation { turn in asked.change { $0.append(turn) } }
        }
        try await Harbour.run(client: { $0.pollGate = gate }) { harbour in
            let values = Harbour.Values()
            let query = harbour.inOslo.live()
            query.subscribe(values)
            await until { asked.value.count == 1 }
            expectNoDifference(query.statusNow.kind, .throttled)
            expectNoDifference(harbour.requests, 0)
            expectNoDifference(hosts.value, [harbour.sandbox.url])
            asked.value[0].resume()
            await values.valueCount(atLeast: 1)
            values.cancel()
        }
    }

    @Test func aGateThatFailsStopsNobody() async throws {
        try await Harbour.run(client: { $0.pollGate = .init { _ in throw CancellationError() } }) { harbour in
            let values = await harbour.watch(harbour.inOslo.live())
            values.cancel()
        }
    }
}

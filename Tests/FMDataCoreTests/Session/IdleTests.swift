import CustomDump
import FMData
import FMTestSupport
import NIOCore
import Testing

@testable import FMDataCore

/// How long a session may stay idle under a configuration: until the margin before its expiry, or until it is trimmed.
@Suite struct IdleTests {
    @Test func aSessionIsUsedUntilTheMarginBeforeItsExpiry() {
        let fixture = PoolFixture {
            $0.idleExpiry = .seconds(100)
            $0.idleMargin = .seconds(20)
        }
        expectNoDifference(fixture.request().history, ["T1", "finished"])
        expectNoDifference(fixture.pool.status.expires, fixture.time.date(of: fixture.time.deadline + .seconds(100)))
        // Each answer postpones the expiry.
        for _ in 0..<3 {
            fixture.time.advance(by: .seconds(79))
            expectNoDifference(fixture.request().history, ["T1", "finished"])
        }
        expectNoDifference(fixture.server.loggedOut, [])

        fixture.time.advance(by: .seconds(80))
        expectNoDifference(fixture.server.loggedOut, ["T1"])
        expectNoDifference(fixture.pool.status.expires, nil)
        expectNoDifference(fixture.request().history, ["T2", "finished"])
    }

    @Test func aMarginThatLeavesNothingCountsAsHalf() {
        let fixture = PoolFixture {
            $0.idleExpiry = .seconds(100)
            $0.idleMargin = .seconds(100)
        }
        _ = fixture.request()
        fixture.time.advance(by: .seconds(49))
        expectNoDifference(fixture.server.loggedOut, [])
        fixture.time.advance(by: .seconds(1))
        expectNoDifference(fixture.server.loggedOut, ["T1"])
    }

    @Test func sessionsBeyondTheFirstAreTrimmedWhenNobodyNeedsThem() {
        let fixture = PoolFixture {
            $0.maximumSessions = 2
            $0.idleTrim = .seconds(10)
        }
        for lease in fixture.leases(2) { fixture.pool.release(lease, .used) }
        expectNoDifference(fixture.server.logInCount, 2)
        fixture.time.advance(by: .seconds(9))
        expectNoDifference(fixture.pool.status.sessions, 2)
        fixture.time.advance(by: .seconds(1))
        expectNoDifference(fixture.server.loggedOut, ["T1"])
        // The first stays for as long as the server keeps it.
        fixture.time.advance(by: .minutes(14))
        expectNoDifference(fixture.pool.status.sessions, 1)
        expectNoDifference(fixture.request().history, ["T2", "finished"])
    }
}

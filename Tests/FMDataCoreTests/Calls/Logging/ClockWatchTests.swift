import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import Logging
import OpenCombine
import Testing

@testable import FMDataCore

/// An operator is told when the clocks of the host and of this machine differ.
@Suite(.timeLimit(.minutes(15))) struct ClockWatchTests {
    private static let noon = Date(timeIntervalSince1970: 1_750_000_000)
    private static let origin = Origin(scheme: .https, host: "fms.example.com")

    /// The differences that are told when logins, which take 10 s, are answered with these dates.
    private static func told(_ seconds: [Double], _ level: Logger.Level = .notice) -> [String] {
        let log = LogLines()
        let watch = ClockWatch(log.logger(level), origin: origin)
        for seconds in seconds {
            watch?.saw(noon.addingTimeInterval(seconds), between: noon, and: noon.addingTimeInterval(10))
        }
        return log.all
    }

    private static func line(_ skew: Int) -> String {
        "notice clock of the host differs from the clock of this machine|origin=https://fms.example.com skew_s=\(skew)"
    }

    @Test func aMinuteIsToldAndLessIsNot() {
        expectNoDifference(Self.told([0, 10, 69, -59]), [])
        expectNoDifference(Self.told([70]), [Self.line(60)])
        expectNoDifference(Self.told([-60]), [Self.line(-60)])
    }

    @Test func itIsToldOnceUntilTheClocksAgree() {
        expectNoDifference(Self.told([3610, 3611, 3600, 0, -86400]), [Self.line(3600), Self.line(-86400)])
    }

    @Test func whereNoticesAreNotLoggedNothingIsWatched() {
        expectNoDifference(Self.told([3600], .warning), [])
        #expect(ClockWatch(nil, origin: Self.origin) == nil)
        #expect(ClockWatch(LogLines().logger(.warning), origin: Self.origin) == nil)
    }

    @Test func theDateOfALoginIsCompared() async throws {
        let log = LogLines()
        let clock = AdjustableClock()
        clock.advance(by: .seconds(7200))
        try await World.run(sandbox: { $0.clock = clock }, client: { $0.logger = log.logger(.notice) }) { world in
            for _ in 1...2 {
                _ = try await world.database.getScriptNames().firstValue()
                _ = try await world.database.logOut().firstValue()
            }
            let line = try #require(log.all.first)
            #expect(line.hasPrefix("notice clock of the host differs from the clock of this machine|"), "\(line)")
            #expect(line.contains("origin=\(world.sandbox.url) skew_s="), "\(line)")
            let skew = try #require(line.firstMatch(of: #/skew_s=(\d+)$/#).flatMap { Int($0.1) })
            // Less than the host is ahead by what the login took.
            #expect((60...7200).contains(skew))
        }
        expectNoDifference(log.all.count, 1)
    }

    @Test func clocksThatAgreeAreNotTold() async throws {
        let log = LogLines()
        try await World.run(client: { $0.logger = log.logger(.notice) }) { world in
            _ = try await world.database.getScriptNames().firstValue()
        }
        expectNoDifference(log.all, [])
    }
}

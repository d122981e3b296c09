import FMHTTP
import Foundation
import NIOCore
import NIOPosix

/// A million requests, to see whether memory or the number of descriptors grows.
enum SoakSuite: Suite {
    static let name = "soak"
    static let isPartOfAll = false

    static func run(_ report: inout Report, _ options: Options) async throws {
        let server = try await LocalServer()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let contestant = FMHTTPContestant("fmhttp", delivery: .background, port: server.port, group: group)
        try await contestant.run("/s", count: 100_000, concurrency: 32)
        let before = processFootprint()
        for part in 1...9 {
            try await contestant.run("/s", count: 100_000, concurrency: 32)
            let now = processFootprint()
            print("\(part + 1)00,000 requests: \(now.memory / 1_000_000) MB, \(now.descriptors) descriptors")
            fflush(nil)
        }
        let after = processFootprint()
        report["http.soak.grownMB"] = Double(after.memory - before.memory) / 1e6
        report["http.soak.grownDescriptors"] = Double(after.descriptors - before.descriptors)
        try await contestant.stop()
        try await server.stop()
        try await group.shutdownGracefully()
    }
}

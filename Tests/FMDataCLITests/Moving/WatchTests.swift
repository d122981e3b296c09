import ArgumentParser
import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// `fmdata watch` from end to end.
@Suite(.timeLimit(.minutes(15))) struct WatchTests {
    /// A running watch, whose lines are read as they come.
    private final class Watch: @unchecked Sendable {
        // @unchecked: one task uses it at a time.
        private let id = Locked<Int32?>(nil)
        private let reading: FileHandle
        private var received = Data()
        private let finished: Task<FinishedProgram, any Error>

        init(_ home: Home, _ arguments: String...) throws {
            let (reading, writing) = try ChildProcess.pipe()
            self.reading = reading
            let environment = ["HOME": home.folder.path].merging(home.environment) { $1 }
            let (id, output) = (id, Output(handle: writing))
            finished = Task {
                try await FinishedProgram.run(
                    ["watch", "Members", "--every", "0.05"] + arguments,
                    environment: environment,
                    output: output.handle,
                    started: { number in id.change { $0 = number } }
                )
            }
        }

        private struct Output: @unchecked Sendable {
            // @unchecked: it is handed over.
            let handle: FileHandle
        }

        /// The next line; nil at the end.
        func line() async -> String? {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [self] in continuation.resume(returning: nextLine()) }
            }
        }

        private func nextLine() -> String? {
            while true {
                if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: received[..<end], as: UTF8.self)
                    received = Data(received[(end + 1)...])
                    return line
                }
                let more = reading.availableData
                guard !more.isEmpty else { return nil }
                received += more
            }
        }

        func end(by signal: Int32) async throws -> FinishedProgram {
            if let id = id.value { kill(id, signal) }
            return try await finished.value
        }
    }

    @Test(.thorough) func changesAsLines() async throws {
        try await Home.withMembers(8) { home in
            let (table, database) = ("Members", "Single")
            let watch = try Watch(
                home,
                "City=Bath",
                "--initial",
                "--fields",
                "Name,City",
                "--cursor",
                home.path("cursor")
            )
            expectNoDifference(
                awaited: await watch.line(),
                #"{"change":"present","recordId":1,"modId":0,"fieldData":{"Name":"Member 1","City":"Bath"}}"#
            )
            for _ in 3...5 { _ = await watch.line() }
            try home.sandbox.editRecord(1, ["Name": "Ada"], ofTable: table, inDatabase: database)
            expectNoDifference(
                awaited: await watch.line(),
                #"{"change":"updated","recordId":1,"modId":1,"fieldData":{"Name":"Ada","City":"Bath"}}"#
            )
            try home.sandbox.editRecord(2, ["City": "Bath"], ofTable: table, inDatabase: database)
            expectNoDifference(
                awaited: await watch.line(),
                #"{"change":"inserted","recordId":2,"modId":1,"fieldData":{"Name":"Member 2","City":"Bath"}}"#
            )
            try home.sandbox.editRecord(1, ["City": "Rome"], ofTable: table, inDatabase: database)
            expectNoDifference(awaited: await watch.line(), #"{"change":"removed","recordId":1,"reason":"left"}"#)
            expectNoDifference(
                awaited: try await watch.end(by: SIGINT),
                FinishedProgram(status: 130, output: "", errors: "")
            )
            #expect(home.sandbox.sessions.isEmpty)

            // What happens meanwhile is told by the next run, and nothing else.
            try home.sandbox.deleteRecord(2, ofTable: table, inDatabase: database)
            let next = try Watch(
                home,
                "City=Bath",
                "--initial",
                "--fields",
                "Name,City",
                "--cursor",
                home.path("cursor")
            )
            expectNoDifference(awaited: await next.line(), #"{"change":"removed","recordId":2,"reason":"deleted"}"#)
            #expect(try await next.end(by: SIGTERM).status == 143)
        }
    }

    @Test func anotherQueryBeginsAnew() async throws {
        try await Home.withMembers(2) { home in
            let first = try Watch(home, "City=Bath", "--initial", "--fields", "Id", "--cursor", home.path("cursor"))
            _ = await first.line()
            // The cursor is written after the lines.
            try home.sandbox.editRecord(1, ["Id": "7"], ofTable: "Members", inDatabase: "Single")
            _ = await first.line()
            _ = try await first.end(by: SIGINT)
            let second = try Watch(home, "City=Lyon", "--fields", "Id", "--cursor", home.path("cursor"))
            expectNoDifference(awaited: await second.line(), #"{"change":"reset","reason":"otherQuery"}"#)
            expectNoDifference(
                awaited: await second.line(),
                #"{"change":"present","recordId":2,"modId":0,"fieldData":{"Id":2}}"#
            )
            _ = try await second.end(by: SIGINT)
            try home.write("nonsense", to: "cursor")
            let damaged = try await home.fmdata("watch", "Members", "--cursor", home.path("cursor"))
            #expect(damaged.status == 1 && damaged.output.isEmpty, "\(damaged.errors)")
        }
    }

    @Test func aProgramForEachBatch() async throws {
        try await Home.withMembers(2) { home in
            try home.write("", to: "broken")
            func run() async throws -> FinishedProgram {
                try await home.fmdata(
                    "watch",
                    "Members",
                    "--every",
                    "0.05",
                    "--initial",
                    "--fields",
                    "Id",
                    "--cursor",
                    home.path("cursor"),
                    "--exec",
                    "sh",
                    "-c",
                    "cat >> \(home.path("seen")); test ! -e \(home.path("broken"))"
                )
            }
            let failed = try await run()
            expectNoDifference(failed.status, 1)
            #expect(failed.errors.contains("sh ended with status 1. Its changes come again"), "\(failed.errors)")
            #expect(!home.exists("cursor"))
            let lines =
                #"{"change":"present","recordId":1,"modId":0,"fieldData":{"Id":1}}"# + "\n"
                + #"{"change":"present","recordId":2,"modId":0,"fieldData":{"Id":2}}"# + "\n"
            expectNoDifference(home.text("seen"), lines)
            let again = try await run()
            expectNoDifference(again.status, 1)
            expectNoDifference(home.text("seen"), lines + lines, "they come again")
        }
    }

    @Test func aProgramThatSucceedsMovesTheCursor() async throws {
        try await Home.withMembers(1) { home in
            let watch = try Watch(
                home,
                "--initial",
                "--fields",
                "Id",
                "--cursor",
                home.path("cursor"),
                "--exec",
                "sh",
                "-c",
                "cat; exit 0"
            )
            // What the program prints goes where the command's output goes.
            expectNoDifference(
                awaited: await watch.line(),
                #"{"change":"present","recordId":1,"modId":0,"fieldData":{"Id":1}}"#
            )
            try home.sandbox.editRecord(1, ["Id": "5"], ofTable: "Members", inDatabase: "Single")
            expectNoDifference(
                awaited: await watch.line(),
                #"{"change":"updated","recordId":1,"modId":1,"fieldData":{"Id":5}}"#
            )
            try home.sandbox.editRecord(1, ["Id": "6"], ofTable: "Members", inDatabase: "Single")
            expectNoDifference(
                awaited: await watch.line(),
                #"{"change":"updated","recordId":1,"modId":2,"fieldData":{"Id":6}}"#
            )
            #expect(try await watch.end(by: SIGINT).status == 130)
            #expect(home.exists("cursor"))
            #expect(home.sandbox.sessions.isEmpty)
        }
    }

    @Test func aProgramIsEndedWithTheWatch() async throws {
        try await Home.withMembers(1) { home in
            let cursor = home.path("cursor")
            let watch = try Watch(
                home,
                "--initial",
                "--fields",
                "Id",
                "--cursor",
                cursor,
                "--exec",
                "sh",
                "-c",
                "trap 'echo ended; exit 1' TERM; cat; while :; do sleep 0.01; done"
            )
            _ = await watch.line()
            async let end = watch.end(by: SIGINT)
            expectNoDifference(awaited: await watch.line(), "ended")
            #expect(try await end.status == 130)
            #expect(!home.exists("cursor"))
            #expect(home.sandbox.sessions.isEmpty)
            let missing = try await home.fmdata("watch", "Members", "--initial", "--exec", "/nowhere/x")
            #expect(missing.status == 1 && missing.errors.contains("/nowhere/x cannot be started: No such file"))
        }
    }

    @Test func whatMakesNoSense() async throws {
        try await Home.withMembers(0) { home in
            for arguments in [["--every", "0"], ["--every", "x"], ["--sort", "Id"], ["--exec"]] {
                let finished = try await FinishedProgram.run(
                    ["watch", "Members"] + arguments,
                    environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
                )
                #expect(finished.status == 64, "\(arguments) \(finished.errors)")
            }
        }
    }

    #if os(Linux)
    @Test(.thorough) func aStoreThatIsNotThereIsSaidAndWaitedFor() async throws {
        try await Home.withMembers(1) { home in
            let terminal = try Terminal()
            let (started, continuation) = AsyncStream<Int32>.makeStream()
            async let finished = FinishedProgram.run(
                ["watch", "Members", "--stream", "c", "--to", "unix:///nowhere/s"],
                environment: home.environment.merging(["HOME": home.folder.path]) { $1 },
                terminal: terminal,
                started: { continuation.yield($0) }
            )
            _ = await terminal.text(until: "the store of the fleet failed")
            for await process in started {
                kill(process, SIGTERM)
                break
            }
            #expect(try await finished.status == 143)
            #expect(home.sandbox.counters.openSessions == 0)
        }
    }
    #endif

    @Test(
        arguments: [
            (["--stream", "a b"], "--stream takes a name of letters"),
            (["--to", "redis://127.0.0.1"], "--to needs --stream"),
            (["--stream", "c", "--to", "nowhere"], "--to is no URL of a store"),
            (["--stream", "c", "--to", "redis://:canary@127.0.0.1"], "A password in the arguments can be read"),
            (["--stream", "c", "--initial"], "--stream excludes --initial"),
        ]
    )
    func aStreamIsRefusedWhereNothingCanBePublished(_ arguments: [String], _ reason: String) throws {
        let error = #expect(throws: (any Error).self) {
            let command = try WatchCommand.parse(["Contacts"] + arguments)
            _ = try command.changeStream(["FM_FLEET_STORE": "redis://127.0.0.1"])
        }
        let text = error.map { WatchCommand.message(for: $0) } ?? ""
        #expect(text.hasPrefix(reason), "\(text)")
        #expect(!text.contains("canary"))
    }
}

import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// `fmdata doctor` with a host that is well, and how it is called.
@Suite(.timeLimit(.minutes(15))) struct DoctorCommandTests: DoctorHosts {
    @Test func aHostThatIsWell() async throws {
        try await Self.withHost { sandbox in
            let finished = try await Examination.finished([], host: sandbox.url)
            expectNoDifference(finished.status, 0)
            expectNoDifference(finished.errors, "")
            expectNoDifference(
                finished.output.replacing(/[0-9]+ ms/, with: "N ms").replacing(":\(sandbox.port)", with: ":PORT")
                    .replacing("port \(sandbox.port)", with: "port PORT").replacing(/by [0-9]+ s/, with: "by N s"),
                """
                fmdata doctor \(FMDataCommand.version): http://127.0.0.1:PORT, database Shop

                ok       proxy        none is used
                ok       name         127.0.0.1 is an address
                ok       connect      127.0.0.1 answers in N ms, port PORT
                ok       tls          none: the host is asked in plain HTTP
                ok       certificate  none is needed for plain HTTP
                ok       http         HTTP 200 from Apache in N ms
                ok       host         FileMaker Data API Engine, which tells no version
                ok       clock        it differs by N s
                ok       databases    "Shop" is the one that the host shows
                ok       login        the account may use the file
                ok       layouts      the account sees 2
                ok       scripts      the account sees 0
                ok       layout       "Orders" shows 3 fields and 0 portals
                skipped  record       no layout was named
                                      advice: --layout NAME looks at a record of it.
                skipped  container    record was skipped
                skipped  model        no layout was named
                                      advice: --layout NAME looks at a record of it.
                ok       latency      20 answers, half within N ms, 95 % within N ms, the slowest in N ms; \
                connecting takes N ms
                ok       logout       the session is closed

                15 ok, 0 to look at, 0 failed, 3 skipped

                """
            )
            expectNoDifference(sandbox.counters.logins, 1)
            expectNoDifference(sandbox.counters.executedWrites, 0)
        }
    }

    @Test func aHostAloneIsEnoughToBegin() async throws {
        try await Self.withHost { sandbox in
            let examination = try await Examination.run(
                [],
                host: sandbox.url,
                database: nil,
                user: nil,
                password: nil
            )
            expectNoDifference(examination.exit, 0)
            expectNoDifference(examination.names(.failed), [])
            expectNoDifference(try examination[.host].status, .ok)
            expectNoDifference(try examination[.login].found, "no account was given")
            expectNoDifference(try examination[.layouts].cause, .login)
            expectNoDifference(try examination[.latency].figures["count"], 20)
        }
    }

    /// Somebody who knows a host and an account need not know the names of the files.
    @Test func theOnlyDatabaseIsUsed() async throws {
        try await Self.withHost { sandbox in
            let examination = try await Examination.run([], host: sandbox.url, database: nil)
            expectNoDifference(try examination[.databases].found, #"the host shows one, "Shop", which is used"#)
            expectNoDifference(try examination[.login].status, .ok)
        }
        try await Self.withHost([Self.solution(), Self.solution("Store")]) { sandbox in
            let examination = try await Examination.run([], host: sandbox.url, database: nil)
            expectNoDifference(
                try examination[.databases].advice,
                [#"Name the one to look at: --database "Shop"."#]
            )
            expectNoDifference(try examination[.login].found, "no database was named")
            expectNoDifference(examination.exit, 0)
        }
    }

    @Test func aHostThatIsNoneIsAMistakeOfUsage() async throws {
        let finished = try await Examination.finished([], host: "not a host")
        expectNoDifference(finished.status, 64)
        #expect(finished.errors.contains("Usage: fmdata doctor"))
        let missing = try await FinishedProgram.run(["doctor"])
        expectNoDifference(missing.status, 64)
        #expect(
            missing.errors.hasPrefix("Error: Which host? Give --host, set FM_HOST, or make a profile: fmdata login.")
        )
    }

    @Test func ctrlCLogsOut() async throws {
        try await Self.withHost { sandbox in
            sandbox.inject(.holdAnswer, on: .layouts)
            let (started, continuation) = AsyncStream<Int32>.makeStream()
            async let finished = FinishedProgram.run(
                ["doctor"] + Examination.patience,
                environment: [
                    "FM_HOST": sandbox.url, "FM_DATABASE": "Shop", "FM_USER": Examination.user,
                    "FM_PASSWORD": Examination.password,
                ],
                started: { continuation.yield($0) }
            )
            await sandbox.untilAnswersHeld()
            for await process in started {
                kill(process, SIGINT)
                break
            }
            let end = try await finished
            expectNoDifference(end.status, 130)
            expectNoDifference(sandbox.counters.openSessions, 0)
            sandbox.releaseAnswers()
        }
    }
}

import CustomDump
import FMSandbox
import FMTestSupport
import Testing

@testable import FMDataCLI

/// What `fmdata doctor` says of databases and accounts.
@Suite(.timeLimit(.minutes(15))) struct DoctorAccountTests: DoctorHosts {
    @Test func aPasswordThatIsWrong() async throws {
        try await Self.withHost { sandbox in
            let examination = try await Examination.run([], host: sandbox.url, password: "wrong-canary")
            let failure = try examination.failure(.login)
            expectNoDifference(failure.found, "FileMaker error 212: account or password is wrong (HTTP 401)")
            #expect(failure.advice.first?.hasPrefix("Check the account and its password") == true)
            #expect(failure.advice.last?.contains("fmrest") == true, "a host may say the same for want of it")
            expectNoDifference(examination.exit, 4)
        }
    }

    @Test func anAccountThatIsLockedOut() async throws {
        try await Self.withHost({ $0.loginThrottling = .init(attempts: 1) }) { sandbox in
            _ = try await Examination.run([], host: sandbox.url, password: "wrong-canary")
            let failure = try await Self.examine(sandbox).failure(.login)
            #expect(failure.found.hasPrefix("FileMaker error 214: "), "\(failure)")
            #expect(failure.advice.first?.hasPrefix("Wait some minutes") == true)
        }
    }

    @Test func anAccountThatIsInactive() async throws {
        try await Self.withHost([Self.solution(isActive: false)]) { sandbox in
            let examination = try await Self.examine(sandbox)
            let failure = try examination.failure(.login)
            #expect(failure.found.hasPrefix("FileMaker error 210: account is inactive"), "\(failure)")
            expectNoDifference(examination.exit, 4)
        }
    }

    /// Hosts may say it by any of three numbers. Where the account is accepted for another file of the host, its
    /// password is right, so it comes first.
    @Test func anAccountWithoutFmrest() async throws {
        let without = Solution.PrivilegeSet(name: "Clerks", allowsDataAPI: false)
        try await Self.withHost([Self.solution(privileges: without), Self.solution("Store")]) { sandbox in
            let examination = try await Self.examine(sandbox)
            let failure = try examination.failure(.login)
            #expect(failure.found.hasPrefix("FileMaker error 212: "), "\(failure)")
            #expect(failure.advice.first?.contains("the extended privilege fmrest") == true, "\(failure)")
            #expect(failure.advice.last?.contains("account and password are right there") == true, "\(failure)")
            expectNoDifference(examination.exit, 4)
        }
        for code in [9, 802] {
            try await Self.withHost { sandbox in
                sandbox.inject(.error(FileMakerError(code)), on: .login)
                let failure = try await Self.examine(sandbox).failure(.login)
                #expect(failure.advice.first?.contains("the extended privilege fmrest") == true, "\(failure)")
            }
        }
    }

    @Test func aFileThatIsClosed() async throws {
        try await Self.withHost { sandbox in
            let examination = try await Examination.run([], host: sandbox.url, database: "Ledger")
            let failure = try examination.failure(.login)
            #expect(failure.found.hasPrefix("FileMaker error 802: file could not be opened"), "\(failure)")
            expectNoDifference(
                failure.advice.first,
                "Is the file open on the host, and spelled so? Admin Console, Databases."
            )
            expectNoDifference(try examination[.databases].found, #"the host shows "Shop", and not "Ledger""#)
            expectNoDifference(examination.exit, 1)
        }
    }

    @Test func aFileThatIsSpelledDifferently() async throws {
        try await Self.withHost { sandbox in
            let examination = try await Examination.run([], host: sandbox.url, database: "Shopp")
            expectNoDifference(try examination[.databases].advice, [#"Did you mean --database "Shop"?"#])
            expectNoDifference(try examination.failure(.login).advice.first, #"Did you mean --database "Shop"?"#)
        }
    }

    @Test(arguments: [956, 812])
    func aHostWithoutRoomForASession(_ code: Int) async throws {
        try await Self.withHost({ $0.sessionLimitCode = code }) { sandbox in
            sandbox.inject(.fullHost, on: .login)
            let examination = try await Self.examine(sandbox)
            let failure = try examination.failure(.login)
            #expect(failure.found.hasPrefix("FileMaker error \(code): "), "\(failure)")
            #expect(failure.advice.first?.hasPrefix("Close idle sessions in the Admin Console") == true)
            expectNoDifference(examination.exit, 1)
        }
    }

    @Test func aLogoutThatFails() async throws {
        try await Self.withHost { sandbox in
            sandbox.inject(.error(FileMakerError(500)), on: .logout, count: nil)
            let examination = try await Self.examine(sandbox)
            expectNoDifference(try examination[.logout].status, .warning)
            expectNoDifference(examination.exit, 0)
            sandbox.restart()
        }
    }
}

import CustomDump
import FMData
import FMModel
import Foundation
import Testing

@testable import FMDataCLI

/// The order of the checks, which of them are skipped, and how a report is printed.
@Suite struct DoctorReportTests {
    private let patient = DoctorPatient(
        DoctorPatient.Given(
            server: DataAPI.Server(host: "fms.example.com"),
            way: .init(host: "fms.example.com", port: 443),
            database: "Shop",
            account: .missing("no account was given", advice: "Give one."),
            layout: nil,
            folder: ModelFolder(URL(fileURLWithPath: "/nowhere"))
        ),
        environment: [:]
    )

    private func check(
        _ name: DoctorCheck.Name,
        needs: DoctorCheck.Name...,
        finding: DoctorFinding
    ) -> DoctorCheck {
        DoctorCheck(name, "it is right", needs: needs) { _ in finding }
    }

    // MARK: Order

    @Test func everyNameIsACheckInItsPlace() {
        expectNoDifference(DoctorCheck.all(DoctorLimits()).map(\.name), DoctorCheck.Name.allCases)
    }

    @Test func aCheckNeedsOnlyThoseBeforeIt() {
        var made: Set<DoctorCheck.Name> = []
        for check in DoctorCheck.all(DoctorLimits()) {
            #expect(made.isSuperset(of: check.needs), "\(check.name)")
            made.insert(check.name)
        }
    }

    @Test func theFirstCauseIsNamed() async throws {
        let report = try await DoctorReport.made(
            of: patient,
            [
                check(.name, finding: .failed("no", "Look.", exit: .unreachable)),
                check(.connect, needs: .name, finding: .ok("yes")),
                check(.tls, needs: .connect, finding: .ok("yes")),
                check(.login, finding: .skipped("no account")),
                check(.layouts, needs: .login, finding: .ok("yes")),
                check(.layout, needs: .layouts, finding: .failed("no")),
                check(.latency, finding: .ok("yes")),
            ]
        )
        expectNoDifference(
            report.results.map(\.finding),
            [
                .failed("no", "Look.", exit: .unreachable), .skipped("name has failed", cause: .name),
                .skipped("name has failed", cause: .name), .skipped("no account"),
                .skipped("login was skipped", cause: .login), .skipped("login was skipped", cause: .login), .ok("yes"),
            ]
        )
        expectNoDifference(report.exit, .unreachable)
    }

    @Test func warningsAreNoObstacleAndNoFailure() async throws {
        let report = try await DoctorReport.made(
            of: patient,
            [
                check(.name, finding: .warning("slow", "Wait.")),
                check(.connect, needs: .name, finding: .ok("yes")),
            ]
        )
        expectNoDifference(report.results.map(\.finding.status), [.warning, .ok])
        expectNoDifference(report.exit, nil)
    }

    @Test func eachResultIsToldAsSoonAsItIsKnown() async throws {
        var told: [DoctorCheck.Name] = []
        let report = try await DoctorReport.made(
            of: patient,
            [check(.name, finding: .ok("yes")), check(.connect, finding: .ok("yes"))]
        ) { told.append($0.name) }
        expectNoDifference(told, report.results.map(\.name))
    }

    // MARK: Text and JSON

    private var report: DoctorReport {
        get async throws {
            try await DoctorReport.made(
                of: patient,
                [
                    check(.name, finding: .ok("fms.example.com is 192.0.2.1").with(["milliseconds": 3])),
                    check(.connect, finding: .warning("it is slow", "Wait.")),
                    check(.tls, finding: .failed("it is closed", "Open it.", "Or do not.")),
                    check(.certificate, needs: .tls, finding: .ok("yes")),
                ]
            )
        }
    }

    @Test func theText() async throws {
        let text = try await report.text
        expectNoDifference(
            text,
            """
            fmdata doctor \(FMDataCommand.version): fms.example.com, database Shop

            ok       name         fms.example.com is 192.0.2.1
            look at  connect      it is slow
                                  expected: it is right
                                  advice: Wait.
            FAILED   tls          it is closed
                                  expected: it is right
                                  advice: Open it.
                                  advice: Or do not.
            skipped  certificate  tls has failed

            1 ok, 1 to look at, 1 failed, 1 skipped

            """
        )
    }

    @Test func theSameAsJSON() async throws {
        let json = try await report.json()
        expectNoDifference(
            json,
            """
            {
              "checks" : [
                {
                  "advice" : [

                  ],
                  "expected" : "it is right",
                  "figures" : {
                    "milliseconds" : 3
                  },
                  "found" : "fms.example.com is 192.0.2.1",
                  "name" : "name",
                  "status" : "ok"
                },
                {
                  "advice" : [
                    "Wait."
                  ],
                  "expected" : "it is right",
                  "figures" : {

                  },
                  "found" : "it is slow",
                  "name" : "connect",
                  "status" : "warning"
                },
                {
                  "advice" : [
                    "Open it.",
                    "Or do not."
                  ],
                  "expected" : "it is right",
                  "figures" : {

                  },
                  "found" : "it is closed",
                  "name" : "tls",
                  "status" : "failed"
                },
                {
                  "advice" : [

                  ],
                  "cause" : "tls",
                  "expected" : "it is right",
                  "figures" : {

                  },
                  "found" : "tls has failed",
                  "name" : "certificate",
                  "status" : "skipped"
                }
              ],
              "database" : "Shop",
              "host" : "fms.example.com",
              "isWell" : false,
              "version" : "\(FMDataCommand.version)"
            }
            """
        )
    }

    /// A host text may hold what no report may show.
    @Test func aPasswordInTheHostIsNotPrinted() {
        let patient = DoctorPatient(
            DoctorPatient.Given(
                server: DataAPI.Server(host: "https://clerk:canary@fms.example.com"),
                way: .init(host: "fms.example.com", port: 443),
                account: .missing("", advice: ""),
                folder: ModelFolder(URL(fileURLWithPath: "/nowhere"))
            )
        )
        #expect(!patient.emptyReport.text.contains("canary"))
    }
}

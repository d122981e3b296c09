import ArgumentParser
import FMData
import Foundation

/// `fmdata doctor`: finds out why a host cannot be used, step by step.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Finds out why a host does not work, and says what to do.",
        discussion: """
            It looks at proxy, name, addresses, TLS and certificate, at the web server, the Data API and its clock, at \
            databases, account, layouts and speed, in this order; a check that depends on one that has failed is \
            skipped. A host is enough to begin with: what needs an account, a database or a layout is skipped when \
            that is not given. It changes nothing, opens one session and closes it. The report names the host, and no \
            account, password, token or value, and can be pasted into an issue as it is.

            The status is that of the first failure: 5 on the way to the host, 4 for an account that is refused, 3 for \
            a layout that is not like its snapshot any more, else 1. Warnings are no failures.
            """
    )

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup var folder: FolderOptions

    @Option(help: "A layout, of which a record is read, and which is compared with its snapshot if there is one.")
    var layout: String?

    @Flag(help: "Print the report as a JSON object.")
    var json = false

    @Option(
        help: ArgumentHelp("Answers that begin later are worth a warning (500).", valueName: "ms"),
        transform: { text in
            guard let number = Int(text), (0...3_600_000).contains(number) else {
                throw ValidationError("expected milliseconds, 0 to 3600000")
            }
            return .milliseconds(number)
        }
    )
    var slowAfter = DoctorLimits().slow

    @Option(help: ArgumentHelp("A certificate that expires sooner is worth a warning.", valueName: "days"))
    var expiresWithin = DoctorLimits().days

    @Option(
        help: ArgumentHelp("How long each step may take (10).", valueName: "seconds"),
        transform: { text in
            guard let duration = Duration(seconds: text) else {
                throw ValidationError("expected seconds, more than 0 and no more than 31536000")
            }
            return duration
        }
    )
    var timeout: Duration = .seconds(10)

    @Option(
        help: ArgumentHelp(
            "Write the certificates that the host shows to a file, for --ca. Compare them before you trust them.",
            valueName: "file"
        )
    )
    var saveCertificates: String?

    func run() async throws {
        try await HostVisit.make(with: connection, talk) { visit in try await examine(visit) }
    }

    private func examine(_ visit: HostVisit) async throws {
        let server = try await visit.openServer()
            .timeouts {
                ($0.connect, $0.firstByte, $0.queue, $0.idle) = (timeout, timeout, timeout, timeout)
                $0.total = timeout * 3
            }
        let place = try await visit.place()
        // A host text that names none is a mistake of usage, and ends here.
        let way = try await server.connectionReport()
        let patient = DoctorPatient(
            DoctorPatient.Given(
                server: server,
                way: way,
                database: place.database,
                account: await DoctorPatient.Account(of: place),
                layout: layout,
                folder: folder.folder,
                certificateFile: saveCertificates,
                measuring: timeout * 1.5
            )
        )
        let checks = DoctorCheck.all(DoctorLimits(slow: slowAfter, days: expiresWithin))
        // Each line is printed as soon as it is known: on a bad day a check may take its time.
        if !json { show(patient.emptyReport.heading) }
        let report = try await DoctorReport.made(of: patient, checks) { result in
            if !json { show(result.text) }
        }
        show(json ? try report.json() + "\n" : report.summary)
        if let exit = report.exit { throw exit.code }
    }

    private func show(_ text: String) {
        ProgressLine.shared.hide()
        print(text, terminator: "")
        fflush(nil)
    }
}

extension DoctorPatient.Account {
    /// The account of a command. Its password is read.
    fileprivate init(of place: Place) async {
        guard place.user != nil || place.hasKey else {
            self = .missing("no account was given", advice: "Give --user, and its password in FM_PASSWORD.")
            return
        }
        do {
            self = .given(try await place.credentials())
        } catch {
            // Its text names the account, or the file with its password.
            self = .missing(
                "the password of the account cannot be read",
                advice: "Its password belongs in FM_PASSWORD."
            )
        }
    }
}

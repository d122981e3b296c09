/// One thing that a doctor looks at. A check that depends on others is skipped when one of them has failed.
struct DoctorCheck: Sendable {
    /// The names of the checks, in the order in which they are made.
    enum Name: String, Codable, Sendable, CaseIterable {
        case proxy, name, connect, tls, certificate, http, host, clock
        case databases, login, layouts, scripts, layout, record, container, model
        case latency, logout
    }

    let name: Name
    /// What is right.
    let expected: String
    /// The checks without which this one makes no sense.
    let needs: [Name]
    /// Looks, and says what is there.
    let run: @Sendable (DoctorPatient) async -> DoctorFinding

    init(
        _ name: Name,
        _ expected: String,
        needs: [Name] = [],
        run: @escaping @Sendable (DoctorPatient) async -> DoctorFinding
    ) {
        self.name = name
        self.expected = expected
        self.needs = needs
        self.run = run
    }
}

extension DoctorCheck {
    /// All checks, in their order.
    static func all(_ limits: DoctorLimits) -> [DoctorCheck] {
        [
            // The way to the host.
            DoctorCheck(.proxy, "none, or one that opens a tunnel to the host") {
                .proxy($0.way, variables: $0.proxyVariables)
            },
            DoctorCheck(.name, "the host has an address", needs: [.proxy]) { .name($0.way) },
            DoctorCheck(.connect, "every address takes connections", needs: [.name]) { .connect($0.way) },
            DoctorCheck(.tls, "TLS 1.2 or later", needs: [.connect]) { .tls($0.way, isPlain: $0.isPlain) },
            DoctorCheck(
                .certificate,
                "it is trusted here, names the host, and is valid for \(limits.days) days or more",
                needs: [.tls]
            ) { await $0.certificate(limits) },
            // The host.
            DoctorCheck(.http, "an answer in HTTP", needs: [.certificate]) { .http(await $0.greeting()) },
            DoctorCheck(.host, "the Data API of a FileMaker Server", needs: [.http]) { .host(await $0.greeting()) },
            DoctorCheck(.clock, "it differs by a minute at most", needs: [.http]) { .clock(await $0.greeting()) },
            // The account.
            DoctorCheck(.databases, "the database is listed, spelled as here", needs: [.host]) {
                await $0.databases()
            },
            DoctorCheck(.login, "the account may open the file by the Data API", needs: [.host]) { await $0.login() },
            // What it sees.
            DoctorCheck(.layouts, "the account sees one or more", needs: [.login]) { await $0.layouts() },
            DoctorCheck(.scripts, "they can be listed", needs: [.login]) { await $0.scripts() },
            DoctorCheck(.layout, "its fields can be read", needs: [.layouts]) { await $0.layout() },
            DoctorCheck(.record, "one can be read", needs: [.layout]) { await $0.record() },
            DoctorCheck(.container, "its content can be fetched", needs: [.record]) { await $0.container() },
            DoctorCheck(.model, "the snapshot is like the layout", needs: [.layout]) { await $0.model() },
            DoctorCheck(.latency, "19 of 20 answers begin within \(limits.slow.milliseconds) ms", needs: [.host]) {
                .latency(await $0.answerTimes(), limits)
            },
            DoctorCheck(.logout, "the session is closed", needs: [.login]) { await $0.logOut() },
        ]
    }
}

/// From when on something is worth a warning.
struct DoctorLimits: Sendable {
    /// The time to the first byte of an answer.
    var slow = Duration.milliseconds(500)
    /// The days for which a certificate has to be valid.
    var days = 30
}

extension Duration {
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}

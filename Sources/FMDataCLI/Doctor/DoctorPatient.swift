import FMData
import FMModel
import Foundation
import OpenCombine

/// The host that is examined, and what is known of it so far. It is asked nothing twice.
actor DoctorPatient {
    /// What a doctor is told of a host. Everything but the server may be missing.
    struct Given: Sendable {
        var server: DataAPI.Server
        /// The way to it.
        var way: DataAPI.ConnectionReport
        var database: String?
        var account: Account
        var layout: String?
        var folder: ModelFolder
        /// Where the certificates that the host shows are written to.
        var certificateFile: String?
        /// How long the small answers are measured at most.
        var measuring = Duration.seconds(15)
    }

    enum Account: Sendable {
        case given(Credentials)
        /// What is missing, and what to do.
        case missing(String, advice: String)
    }

    let given: Given
    /// Whether the host is reached by plain HTTP.
    let isPlain: Bool
    /// The variables of the environment that are about proxies. Their values may hold passwords.
    let proxyVariables: [String]
    private let now: @Sendable () -> Date

    private var knownGreeting: DoctorGreeting?
    /// The names of the databases that the host has shown; `nil` if it has not.
    private var listed: [String]?
    /// Why it has not.
    private var listRefusal: FMRest.APIError?
    private var databaseName: String?
    private var database: DataAPI.Database?
    private var knownLayouts: [DataAPI.Layout] = []
    private var examined: (layout: DataAPI.Layout, metadata: DataAPI.Layout.LayoutMetaData)?
    private var readRecord: (id: Int, fields: FieldData)?

    init(
        _ given: Given,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.given = given
        isPlain = given.server.host.lowercased().hasPrefix("http://")
        let names = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]
        proxyVariables = names.filter { environment[$0].map { !$0.isEmpty } ?? false }
        self.now = now
        databaseName = given.database
    }

    nonisolated var emptyReport: DoctorReport {
        DoctorReport(host: given.server.host, database: given.database, layout: given.layout)
    }

    // MARK: The way to the host

    nonisolated var way: DataAPI.ConnectionReport { given.way }

    func certificate(_ limits: DoctorLimits) async -> DoctorFinding {
        guard let tls = way.tls else { return .ok("none is needed for plain HTTP") }
        let saved: String?
        do {
            saved = try given.certificateFile.map { try save(tls.certificates, in: $0) }
        } catch {
            return .failed("\(error)", exit: .failed)
        }
        let refusal = await greeting().result.error?.transportError
        var finding = DoctorFinding.certificate(tls, refusal, host: given.server.host, now: now(), limits)
        if let saved { finding.found += saved }
        return finding
    }

    private func save(_ certificates: [DataAPI.ConnectionReport.Certificate], in file: String) throws -> String {
        try FileError.telling("write \(file)") {
            try Data(certificates.map(\.pem).joined().utf8).write(to: URL(fileURLWithPath: file))
        }
        return "; written to \(file)"
    }

    // MARK: The host

    /// The answer to a request that needs no account.
    func greeting() async -> DoctorGreeting {
        if let knownGreeting { return knownGreeting }
        let begin = now()
        let watch = AnswerWatch()
        let result = await given.server.watched(by: watch).getProductInfo().awaitSingleResult()
        let end = now()
        let greeting = DoctorGreeting(
            result: result,
            head: await watch.ended().last,
            isPlain: isPlain,
            date: begin.addingTimeInterval(end.timeIntervalSince(begin) / 2)
        )
        knownGreeting = greeting
        return greeting
    }

    /// Twenty small answers, or as many as come within 15 seconds.
    func answerTimes() async -> DoctorAnswerTimes {
        var times = DoctorAnswerTimes(way: way)
        let watch = AnswerWatch()
        let server = given.server.watched(by: watch)
        var total = Duration.zero
        for _ in 0..<20 where total < given.measuring && times.failure == nil && !Task.isCancelled {
            let start = ContinuousClock.now
            times.failure = await server.getProductInfo().awaitSingleResult().error
            total += .now - start
        }
        times.heads = await watch.ended()
        return times
    }

    // MARK: The account

    func databases() async -> DoctorFinding {
        var credentials: Credentials?
        if case .given(let account) = given.account { credentials = account }
        let result = await given.server.getDatabaseNames(credentials: credentials).awaitSingleResult()
        (listed, listRefusal) = ((try? result.get())?.databases.map(\.name), result.error)
        // Somebody who knows a host and an account need not know the names of its files.
        if databaseName == nil, let listed, listed.count == 1 { databaseName = listed.first }
        return .databases(
            result.map { $0.databases.map(\.name) },
            wanted: given.database,
            asAccount: credentials != nil
        )
    }

    func login() async -> DoctorFinding {
        let credentials: Credentials
        switch given.account {
        case .given(let account): credentials = account
        case .missing(let what, let advice): return .skipped(what, advice)
        }
        guard let databaseName else { return .skipped("no database was named", "Name one: --database.") }
        // Each further attempt prolongs the lock-out.
        if let listRefusal, listRefusal.fileMakerCode == .tooManyLoginAttempts {
            return .login(listRefusal, to: databaseName, listed: nil)
        }
        let database = given.server.addDatabase(databaseName, credentials: credentials)
        // One attempt: a host that is full now is what the report is to say.
        switch await database.login(credentials: credentials).awaitSingleResult() {
        case .success:
            self.database = database
            return .ok("the account may use the file")
        case .failure(let error):
            return .login(error, to: databaseName, listed: listed)
        }
    }

    func logOut() async -> DoctorFinding {
        guard let database else { return .skipped("no session is open") }
        switch await database.logOut().awaitSingleResult() {
        case .success: return .ok("the session is closed")
        case .failure(let error): return .logoutFailed(error)
        }
    }

    // MARK: Layouts

    func layouts() async -> DoctorFinding {
        guard let database else { return .skipped("no session is open") }
        switch await database.getLayoutNames().awaitSingleResult() {
        case .success(let items):
            knownLayouts = items.flatMap(\.allLayouts).filter { !ListTree.isLine($0.name) }
            return .layouts(count: knownLayouts.count)
        case .failure(let error): return .failed(error)
        }
    }

    func scripts() async -> DoctorFinding {
        guard let database else { return .skipped("no session is open") }
        switch await database.getScriptNames().awaitSingleResult() {
        case .success(let items): return .scripts(count: items.flatMap(\.allScripts).count { !ListTree.isLine($0) })
        case .failure(let error): return .scriptsFailed(error)
        }
    }

    func layout() async -> DoctorFinding {
        guard let database, let name = given.layout ?? knownLayouts.first?.name else {
            return .skipped("there is no layout to look at")
        }
        let watch = AnswerWatch()
        let layout = database.addLayout(name)
        switch await layout.watched(by: watch).getLayoutMetadata().awaitSingleResult() {
        case .success(let metadata):
            examined = (layout, metadata)
            return .layout(name, metadata, isCompressed: await watch.ended().last?.isCompressed ?? false)
        case .failure(let error):
            return .layoutFailed(error, name: name, visible: knownLayouts.map(\.name))
        }
    }

    func record() async -> DoctorFinding {
        guard given.layout != nil, let examined else { return .noLayoutNamed }
        let records: Result<DataAPI.RecordResponse<FieldData, DataAPI.EmptyPortal>, FMRest.APIError> =
            await examined.layout.getRecords(recordQuery: RecordQuery(portal: [], limit: 1)).awaitSingleResult()
        switch records {
        case .success(let response):
            readRecord = response.data.first.map { ($0.recordId, $0.fieldData) }
            return .record(response)
        case .failure(let error) where error.fileMakerCode == .recordMissing: return .ok("the layout shows no record")
        case .failure(let error): return .recordFailed(error)
        }
    }

    func container() async -> DoctorFinding {
        guard given.layout != nil, let examined else { return .noLayoutNamed }
        let fields = examined.metadata.fieldMetaData.filter { $0.result == .container }.map(\.name)
        guard let readRecord, let field = fields.first(where: { readRecord.fields[$0]?.isEmpty == false }) else {
            return .ok("the record has no container with a content")
        }
        let download = examined.layout.downloadContainer(fieldName: field, recordId: readRecord.id)
        switch await download.parts.first().awaitSingleResult() {
        case .success: return .ok("the content of a container can be fetched")
        case .failure(let error): return .containerFailed(error)
        }
    }

    func model() async -> DoctorFinding {
        guard given.layout != nil, let examined else { return .noLayoutNamed }
        let name = examined.layout.name
        do {
            let snapshot = try given.folder.snapshot()
            guard let saved = snapshot.layouts.first(where: { SchemaName($0.layout) == SchemaName(name) }) else {
                return .skipped(
                    "there is no snapshot of the layout",
                    "`fmdata schema fetch` makes one; --models names its folder."
                )
            }
            let table = knownLayouts.first { SchemaName($0.name) == SchemaName(name) }?.table
            let description = LayoutDescription(name: name, table: table, examined.metadata)
            let update = LayoutSnapshot.updating([saved], with: [description], prefixes: snapshot.settings.prefixes)
            return .model(SchemaChange.changes(from: [saved], to: update.layouts))
        } catch {
            return .failed("the snapshot cannot be read: \(error)")
        }
    }
}

extension Result {
    var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension DataAPI.Calling {
    fileprivate func watched(by watch: AnswerWatch) -> Self { callOptions { $0.middleware.append(watch.middleware) } }
}

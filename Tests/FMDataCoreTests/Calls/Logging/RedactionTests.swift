import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import Logging
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Secrets are put into every value, and must not be printed.
@Suite(.timeLimit(.minutes(15))) struct RedactionTests {
    /// All secret texts contain this.
    static let secret = "s3cret"

    struct Contact: Codable, Sendable {
        var name: String
        var balance: Int?
        enum CodingKeys: String, CodingKey { case name = "Name", balance = "Balance" }
    }

    enum Mood: String, Decodable { case calm }

    struct Moody: Decodable {
        var notes: Mood
        enum CodingKeys: String, CodingKey { case notes = "Notes" }
    }

    // MARK: Values that hold secrets

    @Test func credentialsRequestsAndTheTreeDoNotPrintThem() throws {
        let secret = Self.secret
        let credentials = [
            Credentials(user: "ada", password: secret), Credentials(oAuthId: secret, oAuthIdentifier: secret),
            Credentials(clarisId: secret), Credentials(token: secret),
        ]
        let sources = FMDataSourceAuth(fmDataSource: [
            .init(database: "a", credentials: .basic(user: "u", password: secret)),
            .init(database: "b", credentials: .oAuth(requestId: secret, identifier: secret)),
        ])
        for credentials in credentials {
            let server = DataAPI.Server(host: "fms.example.com")
            let database = server.addDatabase("Contacts", credentials: credentials, dataSources: sources)
            let layout = database.addLayout("People")
            try expectSilence(
                of: credentials,
                sources,
                server,
                database,
                layout,
                DataAPI.CredentialsProvider.fixed(credentials)
            )
            try expectSilence(of: DataAPIRequest.logIn(to: "Contacts", as: credentials, dataSources: sources))
            try expectSilence(of: DataAPIRequest.logOut(of: "Contacts", token: SessionToken(secret)))
        }
        let layout = DataAPI.Server(host: "h").addDatabase("d").addLayout("l")
        let create = EditRecord(createRecord: ["Name": secret], portalData: ["P": [["T::F": secret]]])
        let find = FindQuery(query: [["Name": secret]], script: ScriptQuery(script: "S", scriptParam: secret))
        let range = RecordQuery(script: ScriptQuery(scriptPreSort: "S", scriptPreSortParam: secret))
        try expectSilence(of: DataAPIRequest.create(in: layout, record: create))
        try expectSilence(of: DataAPIRequest.edit(1, of: layout, record: create))
        try expectSilence(
            of: DataAPIRequest<DataAPI.RecordResponse<Contact, EmptyPortal>>.find(in: layout, query: find)
        )
        try expectSilence(
            of: DataAPIRequest<DataAPI.RecordResponse<Contact, EmptyPortal>>.records(of: layout, query: range)
        )
        try expectSilence(of: DataAPIRequest.run(script: "S", parameter: secret, in: layout))
        try expectSilence(of: DataAPIRequest.setGlobals(["T::g": secret], in: "d"))
        try expectSilence(
            of: DataAPI.ScriptParameter.confidential(secret),
            DataAPI.ScriptParameter.text(secret),
            DataAPI.ScriptParameter.json([secret]),
            DataAPI.OAuthSignIn(requestId: secret, url: secret, trackingId: "t"),
            ScriptQuery(script: "S", scriptParam: secret, scriptPreSortParam: secret, scriptPreRequestParam: secret),
            range,
            DataAPI.ScriptFailure(phase: .preSort, code: 3, result: secret),
            FMRest.APIError(DataAPI.ScriptFailure(phase: .preSort, code: 3, result: secret))
        )
    }

    @Test("all that is made of a script parameter, and the publishers that carry one")
    func scriptParametersAreNotPrinted() throws {
        let secret = Self.secret
        let scripts = ScriptQuery(
            script: "S",
            scriptParam: secret,
            scriptPreSort: "T",
            scriptPreSortParam: secret,
            scriptPreRequest: "U",
            scriptPreRequestParam: secret
        )
        try expectSilence(of: scripts, [scripts], ["a": Optional(scripts)], [DataAPI.ScriptParameter.text(secret)])
        let find = FindQuery(query: [["Name": "x"]], script: scripts)
        let range = RecordQuery(script: scripts)
        let edit = EditRecord(editRecord: ["Name": "x"], script: scripts)
        try expectSilence(of: find, range, edit)
        let database = DataAPI.Server(host: "h").addDatabase("d", credentials: Credentials(user: "u", password: secret))
        let layout = database.addLayout("l")
        try expectSilence(
            of: layout.findRecords(query: find).returnAs(Contact.self),
            layout.getRecords(recordQuery: range).returnAs(Contact.self),
            layout.records(Contact.self, recordQuery: range),
            layout.createRecord(record: EditRecord(createRecord: ["Name": "x"], script: scripts)),
            layout.editRecord(record: edit, recordId: 1),
            layout.deleteRecord(recordId: 1, scriptQuery: scripts),
            layout.runScript("S", parameter: .text(secret)),
            layout.runScript("S", parameter: .confidential(secret)),
            layout.downloadContainer(fieldName: "Photo", recordId: 1),
            database.setGlobals(["T::g": secret]),
            database.login(credentials: Credentials(token: secret)),
            database.timeouts { $0.total = .seconds(1) }
        )
    }

    @Test("what the transport carries, and what it is set up with")
    func theTransportDoesNotPrintThem() throws {
        let secret = Self.secret
        let headers = HTTPHeaders([("Authorization", "Bearer \(secret)"), ("Set-Cookie", secret)])
        let origin = Origin(scheme: .https, host: "h")
        let bytes = ByteBuffer(string: secret)
        try expectSilence(
            of: HTTPRequest(origin: origin, target: "/\(secret)", headers: headers, body: .bytes(bytes)),
            HTTPResponse(status: .ok, headers: headers, body: bytes),
            SessionToken(secret),
            SessionLease(
                id: LeaseID(number: 1),
                session: SessionID(number: 1),
                epoch: TokenEpoch(tick: 1),
                token: SessionToken(secret),
                hasWorked: true
            )
        )
        let proxy = HTTPProxy(host: "p", credentials: .init(user: secret, password: secret))
        let key = DataAPI.TLS.PEM.bytes(Array(secret.utf8))
        let certificate = DataAPI.TLS.ClientCertificate(chain: .file("chain.pem"), key: key, passphrase: secret)
        let encrypted = DataAPI.TLS.ClientCertificate(chainFile: "chain.pem", keyFile: secret, passphrase: secret)
        var config = DataAPI.Config()
        config.tls.clientCertificate = certificate
        config.proxy = .proxy(proxy)
        try expectSilence(of: proxy, config.proxy, key, certificate, encrypted, config.tls, config, config.http)
        try expectSilence(of: HTTPClient(configuration: config.http), DataAPI.Server(host: "h", config: config))
    }

    @Test(
        arguments: [
            "https://api:s3cret@fms.example.com", "api:s3cret@fms.example.com:443", "http://s3cret@fms.example.com",
            "s3cret://a:b@fms.example.com", "https://api:s3@cret:s3cret@fms.example.com/s",
            "https://fms.example.com?token=s3cret", "fms.example.com/path?a=b&token=s3cret#s3cret", "api:s3cret",
            "https://fms.example.com;token=s3cret", "https://api:p?s3cret@fms.example.com",
        ]
    )
    func aSecretInTheHostIsNotPrinted(host: String) async throws {
        let log = LogLines()
        var config = DataAPI.Config()
        config.logger = log.logger(.trace)
        config.tls.dangerouslySkipsVerification = true
        let server = DataAPI.Server(host: host, config: config)
        let database = server.addDatabase("Contacts", credentials: Credentials(user: "api", password: "x"))
        let error = try #require(await database.getScriptNames().awaitSingleResult().failure)
        expectNoDifference(error.code, .invalidRequest)
        try expectSilence(of: server, server.host, database, database.addLayout("People"), error, log.all)
        let other = try #require(await server.getProductInfo().awaitSingleResult().failure)
        try expectSilence(of: other, log.all)
        expectNoDifference(
            log.messages.filter { $0 != "debug sessions changed" },
            [
                "warning TLS certificates are not verified", "debug login failed", "debug call failed",
                "debug call failed",
            ]
        )
    }

    @Test func aHostWithAnAccountSaysWhereThatBelongs() async throws {
        let server = DataAPI.Server(host: "https://api:s3cret@fms.example.com:8443")
        expectNoDifference(server.description, #"Server("https://••••@fms.example.com:8443")"#)
        let error = await server.getProductInfo().awaitSingleResult().failure
        expectNoDifference(
            error?.description,
            #"invalidRequest: The server's host holds a user or a password: "https://••••@fms.example.com:8443". "#
                + "Hint: Write the host alone, and give the account to addDatabase(_:credentials:)."
        )
    }

    @Test func aScriptQueryShowsNames() {
        let query = ScriptQuery(script: "S", scriptParam: "s3cret", scriptPreSort: "T", scriptPreRequest: "U")
        expectNoDifference(
            "\(query)",
            #"ScriptQuery(script: "S", scriptParam: ••••, scriptPreSort: "T", scriptPreRequest: "U")"#
        )
        expectNoDifference("\(ScriptQuery())", "ScriptQuery()")
    }

    @Test func workOfManyCallsLogsNoValue() async throws {
        let log = LogLines()
        try await World.run(client: { $0.logger = log.logger(.trace) }) { world in
            let people = world.database.layout(PlainContact.self)
            let writes: [DataAPI.RecordWrite<PlainContact>] = [
                .create(PlainContact(name: Self.secret, city: Self.secret)),
                .create(PlainContact(name: Self.secret, email: Self.secret)),
                .delete(999_999),
            ]
            let rows = try await people.writing(writes).collect().firstValue()
            expectNoDifference(rows.count, 3)
            world.sandbox.inject(.error(FileMakerError(500)), on: .createRecord)
            let upserts = ["1", "2"].map { number in
                DataAPI.RecordWrite<PlainContact>.upsert(PlainContact(name: "\(Self.secret) \(number)"), by: .name)
            }
            _ = try await people.writing(upserts).collect().firstValue()
            let found = people.find { $0(.name) == Self.secret }
            let seen = Locked(0)
            let live = found.live(isolation: nil)
                .sink(receiveCompletion: { _ in }, receiveValue: { value in seen.change { $0 = value.records.count } })
            await until { seen.value == 2 }
            live.cancel()
            let record = try #require(try await found.firstRecord().firstValue())
            var draft = record.draft()
            draft.city = "\(Self.secret) city"
            _ = try await world.contacts.editRecord(["City": .text("\(Self.secret) theirs")], recordId: record.id)
                .firstValue()
            _ = await people.save(draft).awaitSingleResult()
            _ = try await found.all().collect().firstValue()
        }
        for message in ["debug batch finished", "debug poll finished", "debug page read", "trace request finished"] {
            #expect(log.messages.contains(message), "\(message)")
        }
        let leaks = log.all.filter { $0.contains(Self.secret) }
        expectNoDifference(leaks, [])
    }

    /// Neither the errors, one of each kind, nor the log of all calls may print a secret.
    @Test(.tags(.earlierClients))
    func errorsOfEveryKindAndTheLogDoNotPrintThem() async throws {
        let secret = Self.secret
        let log = LogLines()
        let user = "ada"
        var solution = Solution.sample
        solution.accounts = [.init(name: user, password: secret)]
        let sandbox = try await Sandbox.start([solution], configuration: .init { $0.keepAlive = .seconds(600) })
        var config = DataAPI.Config.patient
        config.logger = log.logger(.trace)
        let database = DataAPI.Server(host: sandbox.url, config: config)
            .addDatabase("World", credentials: Credentials(user: user, password: secret))
        let contacts = database.addLayout("Contacts")
        let id = try await contacts.createRecord(
            record: EditRecord(createRecord: ["Name": secret, "Notes": secret, "Balance": secret])
        ).firstValue().recordId
        let token = database.credentials

        var errors: [FMRest.APIError?] = []
        func fail<Value>(_ publisher: AnyPublisher<Value, FMRest.APIError>) async {
            errors.append(await publisher.map { _ in true }.eraseToAnyPublisher().awaitSingleResult().failure)
        }
        // FileMaker's refusals, which name the field.
        await fail(contacts.editRecord(record: EditRecord(editRecord: ["Nmae": secret]), recordId: id))
        await fail(contacts.editRecord(record: EditRecord(editRecord: ["Birthday": secret]), recordId: id))
        await fail(contacts.editRecord(record: EditRecord(editRecord: ["Status": secret]), recordId: id))
        await fail(
            contacts.findRecords(query: FindQuery(query: [["Nmae": secret]])).returnAs(Contact.self)
                .eraseToAnyPublisher()
        )
        await fail(database.setGlobals(["Contacts::gNone": secret]))
        await fail(database.withSessionPublisher { $0.setGlobals(["Contacts::gNone": secret]) })
        await fail(contacts.runScript("None", parameter: .text(secret)))
        await fail(contacts.runScript("None", parameter: .confidential(secret)))
        await fail(
            contacts.deleteRecord(recordId: 99, scriptQuery: ScriptQuery(script: "Echo", scriptParam: secret))
        )
        // Scripts and their results.
        await fail(contacts.runScript("Fail With", parameter: "5 \(secret)").failOnScriptError())
        await fail(contacts.runScript("Echo", parameter: .text(secret), returning: Int.self))
        // Values of the wrong type, read by the library's decoder and by Foundation's.
        let one = FindQuery(query: [["Name": "==\(secret)"]])
        await fail(contacts.findRecords(query: one).returnAs(Moody.self).eraseToAnyPublisher())
        var foundation = config
        foundation.decoder = JSONDecoder()
        let plain = DataAPI.Server(host: sandbox.url, config: foundation)
            .addDatabase("World", credentials: Credentials(user: user, password: secret))
        await fail(plain.addLayout("Contacts").findRecords(query: one).returnAs(Moody.self).eraseToAnyPublisher())
        await fail(
            contacts.createRecord(record: EditRecord(createRecord: ["Name": [["nested": secret]]]))
        )
        // Logins, and requests that are never sent.
        await fail(
            database.server.addDatabase("Other", credentials: Credentials(user: "x:\(secret)", password: secret))
                .getScriptNames()
        )
        await fail(database.signedIn(as: Credentials(user: "bob", password: secret)).getScriptNames())
        await fail(
            database.server.getDatabaseNames(credentials: Credentials(oAuthId: secret, oAuthIdentifier: secret))
                .tryMap { _ in throw FMRest.APIError(.noValue, reason: "") }.mapError(FMRest.APIError.init(wrapping:))
                .eraseToAnyPublisher()
        )
        await fail(database.server.validateSession(credentials: Credentials(token: secret)))
        sandbox.inject(.resetAfterExecution, on: .editRecord)
        await fail(contacts.editRecord(record: EditRecord(editRecord: ["Name": secret]), recordId: id))
        sandbox.inject(.brokenJSON, on: .getRecord)
        await fail(contacts.record(id: id).returnAs(Contact.self).eraseToAnyPublisher())
        sandbox.inject(.html(status: 502), on: .createRecord)
        await fail(contacts.createRecord(record: EditRecord(createRecord: ["Name": secret])))

        expectNoDifference(errors.filter { $0 == nil }.count, 0)
        for error in errors.compactMap({ $0 }) {
            try expectSilence(of: error)
            #expect(error.curl?.contains(secret) != true)
            if case .token(let token) = token.secret {
                #expect(!"\(error) \(error.curl ?? "") \(String(customDumping: error))".contains(token))
            }
        }
        _ = await database.logOut().awaitSingleResult()
        _ = await plain.logOut().awaitSingleResult()
        await sandbox.stop()
        expectNoDifference(log.all.filter { $0.contains(secret) }, [])
        if case .token(let token) = token.secret {
            expectNoDifference(log.all.filter { $0.contains(token) }, [])
        }
    }

    // MARK: Printing

    /// Prints values in the ways of programs, debuggers and tests.
    private func expectSilence(
        of values: Any...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            var texts = [String(describing: value), String(reflecting: value), String(customDumping: value), dumped]
            mirror(value, depth: 6, into: &texts)
            for text in texts where text.contains(Self.secret) {
                Issue.record("\(type(of: value)) prints a secret: \(text)", sourceLocation: sourceLocation)
            }
        }
    }

    private func mirror(_ value: Any, depth: Int, into texts: inout [String]) {
        guard depth > 0 else { return }
        for child in Mirror(reflecting: value).children {
            texts.append(String(describing: child.value))
            mirror(child.value, depth: depth - 1, into: &texts)
        }
    }

    @Test(.tags(.earlierClients))
    func theLibraryPrintsNothing() throws {
        let sources = Committed.root.appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(atPath: sources.path)).compactMap { $0 as? String }
            .filter { $0.hasSuffix(".swift") && $0.hasPrefix("FMData") && !$0.hasPrefix("FMDataCLI") }
        #expect(files.count > 300)
        for file in files {
            let lines = try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
                .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            let printing = lines.filter {
                !$0.hasPrefix("//") && ($0.hasPrefix("print(") || $0.contains(" print("))
            }
            expectNoDifference(printing, [], "\(file)")
        }
    }

    @Test(.tags(.earlierClients))
    func thePublishersDebugOutputHasNoSecret() async throws {
        struct Memory: TextOutputStream {
            let text: Locked<String>
            mutating func write(_ string: String) { text.change { $0 += string } }
        }
        try await World.run { world in
            let text = Locked("")
            let token = try await world.database.login(credentials: Credentials(user: "admin", password: "secret"))
                .print("log", to: Memory(text: text)).firstValue()
            _ = await world.contacts.editRecord(record: EditRecord(editRecord: ["Nmae": "s3cret"]), recordId: 1)
                .print("log", to: Memory(text: text)).awaitSingleResult()
            #expect(text.value.contains("102"))
            #expect(!text.value.contains("s3cret"))
            guard case .token(let secret) = token.secret else {
                return #expect(Bool(false), "a login brings a token")
            }
            #expect(!text.value.contains(secret))
        }
    }
}

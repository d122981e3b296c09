import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import FMTesting
import Foundation
import OpenCombine
import Testing

/// What is secret in exchanges: the folder of a recording holds none of it.
@Suite(.timeLimit(.minutes(15))) struct SecretsTests {
    /// The values that a host has sent as secrets.
    private final class Seen: Sendable {
        private let texts = Locked<[String]>([])

        var middleware: DataAPI.Middleware {
            DataAPI.Middleware { request, next in
                next(request).handleEvents(receiveOutput: { part in
                    let secret = ["set-cookie", "location", "x-fm-data-access-token"]
                    for (name, value) in part.headers ?? [:] where secret.contains(name.lowercased()) {
                        self.texts.change { $0.append(value) }
                    }
                })
                .eraseToAnyPublisher()
            }
        }

        /// The parts of these values that are no words.
        var secrets: [String] {
            texts.value.flatMap { $0.split { "=;/?&. ".contains($0) }.map(String.init) }.filter { $0.count > 20 }
        }
    }

    /// Tokens, passwords, cookies, keys of containers and the host's name, in calls of all kinds, those that are
    /// refused too.
    @Test func noSecretIsInTheFolder() async throws {
        try await withTemporaryFolder { folder in
            var solution = Solution.sample
            solution.addScript("Leak") { context in .result("{\"seen\":\"at \(context.parameter)\"}") }
            let sandbox = try await Sandbox.start([solution], configuration: .patient)
            let host = sandbox.url.replacingOccurrences(of: "127.0.0.1", with: "localhost")
            let seen = Seen()
            var config = DataAPI.Config.patient
            config.middleware = [.headers(["CF-Access-Client-Secret": "canary-gateway"])]
            try Recording(to: folder).install(in: &config)
            config.middleware.append(seen.middleware)
            let server = DataAPI.Server(host: host, config: config)
            let key = try await Self.useEverything(of: server, on: sandbox)
            _ = await server.shutdown().awaitSingleResult()
            await sandbox.stop()

            let files = try Self.texts(in: folder)
            #expect(files.count > 25)
            #expect(files.contains { $0.text.contains("/Streaming/content-") })
            #expect(files.contains { $0.text.contains("{origin}/Streaming/content-") })
            let codes = ["\"212\"", "\"401\"", "\"102\"", "\"105\"", "\"952\"", "\"101\""]
            expectNoDifference(codes.filter { code in !files.contains { $0.text.contains(code) } }, [])
            #expect(seen.secrets.count > 3)
            Self.expectNone(
                of: ["canary", "localhost", "127.0.0.1", key, Solution.Sample.password] + seen.secrets,
                in: files
            )
        }
    }

    /// - Returns: the key of a container.
    private static func useEverything(of server: DataAPI.Server, on sandbox: Sandbox) async throws -> String {
        let host = server.host
        let sources = FMDataSourceAuth(
            fmDataSource: [.init(database: "Other", credentials: .basic(user: "canary-user", password: "canary-pass"))]
        )
        let credentials = Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
        let database = server.addDatabase("World", credentials: credentials, dataSources: sources)
        let contacts = database.addLayout("Contacts")
        // Containers.
        let file = FMRest.ContainerFile(fileName: "bow.jpg", data: Data("A bow".utf8))
        _ = try await contacts.uploadToContainerField(fieldName: "Photo", recordId: 1, file: file).firstValue()
        let photo = try await contacts.getRecordById(recordId: 1).returnAs(FieldData.self).firstValue()
            .data[0].fieldData["Photo"]?.text
        let url = try #require(photo)
        _ = try await contacts.downloadContainer(fieldName: "Photo", recordId: 1).toMemory().firstValue()
        // Any text may name the host, or the content of a container.
        let note = "see \(url) and \(host)/fmi/webd/World?key=canary-link"
        _ = try await contacts.runScript("Leak", parameter: "\(host)/").firstValue()
        _ = try await contacts.editRecord(record: EditRecord(editRecord: ["Notes": note]), recordId: 1).firstValue()
        _ = try await contacts.createRecord(record: EditRecord(createRecord: ["Name": note])).firstValue()
        _ = try await database.setGlobalFields(globalFields: ["Contacts::gFilter": note]).firstValue()
        _ = try await contacts.getRecords().returnAs(FieldData.self, [String: [FieldData]].self).firstValue()
        // Finds.
        let script = ScriptQuery(script: "Leak", scriptParam: "canary-confidential", isConfidential: true)
        for query in [
            FindQuery(query: [["Name": "Ada*"]], script: script),
            FindQuery(query: [["Notes": note]]),
            FindQuery(query: [["Name": "==Nobody"]], noMatch: .failure),
        ] {
            _ = await contacts.findRecords(query: query).returnAs(FieldData.self).awaitSingleResult()
        }
        _ = try await contacts.runScript("Count Found", parameter: .confidential("canary-confidential")).firstValue()
        // Lists.
        _ = try await contacts.getLayoutMetadata().firstValue()
        _ = try await database.layoutNames().firstValue()
        _ = try await database.scriptNames().firstValue()
        _ = try await server.getProductInfo().firstValue()
        _ = try await database.validateSession().firstValue()
        // Refusals.
        _ = await server.addDatabase("World", credentials: Credentials(user: "canary", password: "canary-wrong"))
            .layoutNames().awaitSingleResult()
        _ = await contacts.editRecord(record: EditRecord(editRecord: ["No": note]), recordId: 1).awaitSingleResult()
        _ = await database.addLayout("No").getRecords().returnAs(FieldData.self).awaitSingleResult()
        _ = await contacts.deleteRecord(recordId: 999).awaitSingleResult()
        sandbox.expireSessions()
        _ = try await contacts.getRecords().returnAs(FieldData.self).firstValue()
        for fault in [Sandbox.Fault.html(status: 502), .brokenJSON, .error(FileMakerError(9))] {
            sandbox.inject(fault, on: .getRecords)
            _ = await contacts.getRecords().returnAs(FieldData.self).awaitSingleResult()
        }
        return try #require(URL(string: url)?.lastPathComponent.split(separator: ".").first.map(String.init))
    }

    /// Spellings that the sandbox does not use.
    @Test func secretsAreFoundHoweverTheyAreSpelled() async throws {
        try await withTemporaryFolder { folder in
            let transport = TestTransport()
            var config = DataAPI.Config()
            try Recording(to: folder).install(in: &config)
            config.allowsForeignContainers = true
            config.explainsErrors = false
            let database = transport.database(config: config)
            let own = "https://FMS.test/Streaming_SSL/MainDB/CANARYKEY.jpg?RCType=canary-type"
            let foreign = "https://files.canary.example:8443/Streaming/MainDB/CANARYKEY.pdf"
            let texts = [
                "at \(own), \(foreign).", "{\"url\":\"https:\\/\\/fms.test\\/Streaming\\/CANARYKEY\"}", "FMS.TEST:443",
                "or on files.canary.example",
            ]
            transport.answer(.getRecords, with: .records(texts.map { ["Notes": $0] }))
            _ = try await database.addLayout("A").getRecords().returnAs(FieldData.self).firstValue()
            // A gateway's answers.
            let page = "<a href='\(own)'>fms.test</a> test-token-1 \(foreign)"
            let headers: DataAPI.Headers = ["Content-Type": "text/html", "Set-Cookie": "k=canary", "X-Key": "canary"]
            transport.answer(.getRecords, with: .http(403, page, headers: headers))
            _ = await database.addLayout("A").getRecords().returnAs(FieldData.self).awaitSingleResult()
            // Contents that are refused.
            let photo = DataAPI.ContainerReference(foreign)
            transport.answer(.downloadContainer, with: .http(404, page, headers: headers))
            _ = await database.download(photo).toMemory().awaitSingleResult()

            let files = try Self.texts(in: folder)
            Self.expectNone(of: ["canary", "canarykey", "fms.test", "test-token"], in: files)
            let first = try #require(files.first { $0.name == "0002-getRecords-A.json" })
            let notes = first.text.split(separator: "\n").filter { $0.contains("Notes") }
                .map { $0.replacing(/content-[0-9a-f]{8}/, with: "content-…").drop { $0 == " " } }
            expectNoDifference(
                notes.map(String.init),
                [
                    #""Notes": "at {origin}/Streaming/content-….jpg, https://host-1.invalid/Streaming/content-….pdf.""#,
                    #""Notes": "{\"url\":\"{origin}/Streaming/content-…\"}""#, #""Notes": "{host}""#,
                    #""Notes": "or on host-1.invalid""#,
                ]
            )
        }
    }

    /// A name of one word is not replaced inside of others.
    @Test func otherWordsStay() async throws {
        try await withTemporaryFolder { folder in
            let transport = TestTransport()
            var config = DataAPI.Config()
            try Recording(to: folder).install(in: &config)
            let texts = [
                "fms", "fms-2", "my.fms", "fmsx", "fms.example", "at fms.", "(fms:80)", "https://example.com/a?b",
            ]
            transport.answer(.getRecords, with: .records(texts.map { ["Notes": $0] }))
            _ = try await DataAPI.Server(host: "fms", answering: transport, config: config)
                .addDatabase("Test", credentials: Credentials(user: "a", password: "b"))
                .addLayout("A").getRecords().returnAs(FieldData.self).firstValue()
            let first = try #require(try Self.texts(in: folder).first { $0.name == "0002-getRecords-A.json" })
            let notes = first.text.matches(of: /"Notes": "(.*)"/).map { String($0.1) }
            expectNoDifference(
                notes,
                [
                    "{host}", "fms-2", "my.fms", "fmsx", "fms.example", "at {host}.", "({host})",
                    "https://example.com/a?b",
                ]
            )
        }
    }

    // MARK: Support

    /// The files of a recording, with the contents of containers decoded.
    private static func texts(in folder: URL) throws -> [(name: String, text: String)] {
        try recordedFiles(in: folder, withLogouts: true).map { name in
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            let contents = text.matches(of: /"base64": "(.*)"/).compactMap { Data(base64Encoded: String($0.1)) }
            return (name, ([text] + contents.map { String(decoding: $0, as: UTF8.self) }).joined(separator: "\n"))
        }
    }

    private static func expectNone(of secrets: [String], in files: [(name: String, text: String)]) {
        for (name, text) in files {
            for secret in secrets {
                let lines = text.split(separator: "\n").filter {
                    $0.range(of: secret, options: .caseInsensitive) != nil
                }
                if !lines.isEmpty { Issue.record("\(name) holds \(secret): \(lines.joined(separator: " "))") }
            }
        }
    }
}

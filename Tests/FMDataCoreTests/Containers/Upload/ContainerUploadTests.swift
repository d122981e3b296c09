import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Uploads, and downloads of what was uploaded, against the sandbox.
@Suite(.timeLimit(.minutes(15))) struct ContainerUploadTests {
    private static let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7) })

    private struct Harbor {
        let sandbox: Sandbox
        let layout: DataAPI.Layout

        var database: DataAPI.Database { layout.database }
    }

    /// A file with containers with and without repetitions, all of them on one layout.
    private static let solution = Solution(
        name: "Harbor",
        tables: [
            .init(
                name: "Vessels",
                fields: [.init("Name"), .init("Photo", .container), .init("Plans", .container, repetitions: 3)],
                records: [.init(["Name": "Aurora"])]
            )
        ],
        layouts: [
            .layout(
                .init(name: "Vessels", table: "Vessels", fields: ["Name", "Photo", "Plans"])
            )
        ],
        accounts: [.init(name: "admin", password: "secret")]
    )

    /// Runs a test on a fresh sandbox and checks that no session stays open.
    private static func withHarbor(
        _ configuration: Sandbox.Configuration = Sandbox.Configuration(),
        _ configure: (inout DataAPI.Config) -> Void = { _ in },
        _ body: (Harbor) async throws -> Void
    ) async throws {
        try await Hosted.run(
            solution,
            credentials: Credentials(user: "admin", password: "secret"),
            sandbox: { defaults in
                let keepAlive = defaults.keepAlive
                defaults = configuration
                defaults.keepAlive = keepAlive
            },
            client: configure
        ) { database, sandbox in
            try await body(Harbor(sandbox: sandbox, layout: database.addLayout("Vessels")))
        }
    }

    private static func configurations() -> [Sandbox.Configuration] {
        [false, true].flatMap { tls in
            [Sandbox.ContainerStreaming.authenticated, .open].map { streaming in
                Sandbox.Configuration {
                    $0.tls = tls
                    $0.containerStreaming = streaming
                }
            }
        }
    }

    private static func text(_ name: String) -> FMRest.ContainerFile {
        FMRest.ContainerFile(fileName: name, mimeType: "text/plain", data: Data("hello".utf8))
    }

    private static func file(_ data: Data = bytes, name: String = "bow.jpg") -> FMRest.ContainerFile {
        FMRest.ContainerFile(fileName: name, data: data)
    }

    /// The same bytes, from a publisher.
    private static func stream(_ length: Int, isReplayable: Bool) -> FMRest.ContainerFile {
        FMRest.ContainerFile(fileName: "stream", length: length, isReplayable: isReplayable) {
            [bytes.prefix(100_000), bytes.dropFirst(100_000)].publisher
                .setFailureType(to: (any Error).self).eraseToAnyPublisher()
        }
    }

    // MARK: Upload and download

    @Test(arguments: configurations().indices)
    func whatGoesInComesOutByteForByte(index: Int) async throws {
        try await Self.withHarbor(Self.configurations()[index]) { harbor in
            let upload = try await harbor.layout.uploadContainer(Self.file(), to: "Photo", recordId: 1).firstValue()
            expectNoDifference(upload, DataAPI.UploadResponse(modId: 1))
            let content = try await harbor.layout.downloadContainer(fieldName: "Photo", recordId: 1).toMemory()
                .firstValue()
            #expect(content.data == Self.bytes)
            #expect(content.fileName == "bow.jpg")
            #expect(content.mimeType == "image/jpeg")
        }
    }

    @Test func theEarlierCallAnswersWithAnEmptyValue() async throws {
        try await Self.withHarbor { harbor in
            let empty = try await harbor.layout
                .uploadToContainerField(fieldName: "Photo", recordId: 1, file: Self.file()).firstValue()
            #expect(empty == FMRest.EmptyResponse())
            #expect(harbor.sandbox.counters.executedWrites == 1)
        }
    }

    @Test func aReferenceDecodesAsPartOfARecord() async throws {
        struct Vessel: Codable, Equatable {
            var name: String
            var photo: DataAPI.ContainerReference
            var plan: DataAPI.ContainerReference?

            enum CodingKeys: String, CodingKey {
                case name = "Name"
                case photo = "Photo"
                case plan = "Plans(2)"
            }
        }
        try await Self.withHarbor { harbor in
            _ = try await harbor.layout.uploadContainer(Self.file(), to: "Photo", recordId: 1).firstValue()
            let vessel = try await harbor.layout.record(id: 1).returnAs(Vessel.self).firstValue().data[0]
                .fieldData
            #expect(vessel.plan == .empty)
            guard case .url(let url) = vessel.photo else { return #expect(Bool(false), "a filled container is a URL") }
            #expect(url.hasPrefix(harbor.sandbox.url))
            let content = try await harbor.database.download(vessel.photo).toMemory().firstValue()
            #expect(content.data == Self.bytes)
        }
    }

    @Test func aFileFromDiskAndAPublisherArriveAsWell() async throws {
        try await Self.withHarbor { harbor in
            try await withTemporaryFile(Self.bytes) { path in
                let length = Self.bytes.count
                for file in [try FMRest.ContainerFile(contentsOf: path), Self.stream(length, isReplayable: false)] {
                    _ = try await harbor.layout.uploadContainer(file, to: "Photo", recordId: 1).firstValue()
                    let content = try await harbor.layout.downloadContainer(fieldName: "Photo", recordId: 1).toMemory()
                        .firstValue()
                    #expect(content.data == Self.bytes)
                }
            }
        }
    }

    @Test func anEmptyFileIsAFile() async throws {
        try await Self.withHarbor { harbor in
            _ = try await harbor.layout.uploadContainer(Self.file(Data(), name: "empty"), to: "Photo", recordId: 1)
                .firstValue()
            let content = try await harbor.layout.downloadContainer(fieldName: "Photo", recordId: 1).toMemory()
                .firstValue()
            #expect(content.data.isEmpty)
        }
    }

    @Test func contentFlowsFromOneRecordToAnother() async throws {
        // An upload leases a session while it subscribes to the download, which leases another one for a moment.
        try await Self.withHarbor(.init(), { $0.sessions.maximumSessions = 2 }) { harbor in
            _ = try await harbor.layout.uploadContainer(Self.file(), to: "Photo", recordId: 1).firstValue()
            let copy = FMRest.ContainerFile(fileName: "copy.jpg", length: Self.bytes.count, isReplayable: true) {
                harbor.layout.downloadContainer(fieldName: "Photo", recordId: 1)
                    .mapError { $0 as any Error }.eraseToAnyPublisher()
            }
            _ = try await harbor.layout.uploadContainer(copy, to: "Plans", recordId: 1, repetition: 3).firstValue()
            let content = try await harbor.layout
                .downloadContainer(fieldName: "Plans", recordId: 1, repetition: 3).toMemory().firstValue()
            #expect(content.data == Self.bytes)
        }
    }

    /// The download tries the wrong session first: the session that read the record is not the free one that was used
    /// last. Content must be found with the default of several sessions, too.
    @Test func contentIsFoundInWhicheverSessionItWasRead() async throws {
        let gate = Gate()
        var solution = Self.solution
        solution.accounts = [.init(name: "admin", password: "")]
        solution.addScript("Wait") { _ in
            await gate.wait()
            return .result("done")
        }
        try await Hosted.run(solution) { database, sandbox in
            let vessels = database.addLayout("Vessels")
            _ = try await vessels.uploadContainer(Self.file(), to: "Photo", recordId: 1).firstValue()
            let waiting = TrackingSubscriber<DataAPI.ScriptResponse, FMRest.APIError>()
            vessels.runScript("Wait").subscribe(waiting)
            await until { database.sessionStatus.leased == 1 }
            // This runs in a second session, since the first one is busy with the script.
            let read = try await vessels.record(id: 1).returnAs(FieldData.self).firstValue()
            let photo = try #require(read.data.first?.fieldData["Photo"]?.text)
            gate.open()
            await waiting.completion()
            expectNoDifference(sandbox.counters.openSessions, 2)
            // Now the first session is free, and was used last.
            let content = try await database.download(DataAPI.ContainerReference(photo)).toMemory().firstValue()
            #expect(content.data == Self.bytes)
            expectNoDifference(sandbox.counters.logins, 2)
        }
    }

    // MARK: The request

    /// An earlier client did not send `modId`, and sent credentials and a JSON content type with an upload.
    @Test(.thorough, .tags(.earlierClients)) func theRequestAsTheServerSeesIt() async throws {
        let host = try await ScriptedHost.start { _ in .json(#"{"modId":"6"}"#) }
        defer { host.server.stop() }
        let layout = host.database.addLayout("A/B")
        let upload = layout.uploadContainer(Self.file(), to: "Grüße::Foto", recordId: 17, repetition: 2, modId: 5)
        let answer = try await upload.firstValue()
        expectNoDifference(answer, DataAPI.UploadResponse(modId: 6))
        let request = try #require(host.server.requests.first { $0.target.contains("/containers/") })
        #expect(request.method == .POST)
        expectNoDifference(
            request.target,
            "/fmi/data/vLatest/databases/Harbor/layouts/A%2FB/records/17/containers/Gr%C3%BC%C3%9Fe%3A%3AFoto/2?modId=5"
        )
        expectNoDifference(request.headers["Authorization"], ["Bearer T1"])
        expectNoDifference(request.headers["Content-Type"].map { $0.prefix { $0 != ";" } }, ["multipart/form-data"])
        expectNoDifference(request.headers["Content-Length"], ["\(request.body.readableBytes)"])
        expectNoDifference(request.headers["Transfer-Encoding"], [])
        #expect(String(buffer: request.body).contains("name=\"upload\"; filename=\"bow.jpg\""))
        // The next request of the same server object has the JSON content type again.
        _ = await layout.createRecord().awaitSingleResult()
        expectNoDifference(host.server.requests.last?.headers["Content-Type"], ["application/json"])
    }

    @Test func withoutAModIdThereIsNoQueryAndTheRepetitionIsTheFirst() async throws {
        let host = try await ScriptedHost.start { _ in .json("{}") }
        defer { host.server.stop() }
        let layout = host.database.addLayout("L")
        let upload = layout.uploadContainer(Self.file(), to: "Photo", recordId: 17)
        // The answer printed in the guide.
        let answer = try await upload.firstValue()
        expectNoDifference(answer, DataAPI.UploadResponse(modId: nil))
        let request = try #require(host.server.requests.last)
        expectNoDifference(
            request.target,
            "/fmi/data/vLatest/databases/Harbor/layouts/L/records/17/containers/Photo/1"
        )
    }

    @Test func aModIdGuardsTheUpload() async throws {
        try await Self.withHarbor { harbor in
            let first = try await harbor.layout.uploadContainer(Self.file(), to: "Photo", recordId: 1, modId: 0)
                .firstValue()
            #expect(first.modId == 1)
            let conflict = await harbor.layout
                .uploadContainer(Self.file(Data("other".utf8)), to: "Photo", recordId: 1, modId: 0).awaitSingleResult()
            #expect(conflict.error?.fileMakerCode == 306)
            let content = try await harbor.layout.downloadContainer(fieldName: "Photo", recordId: 1).toMemory()
                .firstValue()
            #expect(content.data == Self.bytes)
        }
    }

    @Test(.tags(.earlierClients)) func repetitionsAreApart() async throws {
        try await Self.withHarbor { harbor in
            for repetition in 1...3 {
                let file = Self.file(Data("plan \(repetition)".utf8))
                _ = try await harbor.layout.uploadContainer(file, to: "Plans", recordId: 1, repetition: repetition)
                    .firstValue()
            }
            for repetition in 1...3 {
                let content = try await harbor.layout
                    .downloadContainer(fieldName: "Plans", recordId: 1, repetition: repetition).toMemory().firstValue()
                #expect(content.data == Data("plan \(repetition)".utf8))
            }
            let tooMany = await harbor.layout.uploadContainer(Self.file(), to: "Plans", recordId: 1, repetition: 9)
                .awaitSingleResult()
            #expect(tooMany.error?.code == .fileMaker)
            let zero = await harbor.layout.uploadContainer(Self.file(), to: "Plans", recordId: 1, repetition: 0)
                .awaitSingleResult()
            #expect(zero.error?.code == .invalidRequest)
        }
    }

    /// Quirk 32: a container of a related table, and fields that do not exist.
    @Test func whatIsNoContainerOfTheLayoutsTableIsRefused() async throws {
        try await Self.withHarbor { harbor in
            for field in ["Photos", "Other::Photo"] {
                let result = await harbor.layout.uploadContainer(Self.file(), to: field, recordId: 1)
                    .awaitSingleResult()
                #expect(result.error?.fileMakerCode == .fieldMissing)
            }
            let record = await harbor.layout.uploadContainer(Self.file(), to: "Photo", recordId: 99).awaitSingleResult()
            #expect(record.error?.fileMakerCode == .recordMissing)
            #expect(harbor.sandbox.counters.executedWrites == 0)
        }
    }

    @Test(arguments: [
        FMRest.ContainerFile(fileName: "", data: Data()), FMRest.ContainerFile(fileName: "a\0b", data: Data()),
        FMRest.ContainerFile(fileName: "a", mimeType: "x\r\nY: z", data: Data()),
        FMRest.ContainerFile(fileName: "a", length: -1, isReplayable: true) { Empty().eraseToAnyPublisher() },
    ])
    func aFileThatCannotBeSentFailsBeforeAnythingIs(file: FMRest.ContainerFile) async throws {
        let host = try await ScriptedHost.start { _ in .json("{}") }
        defer { host.server.stop() }
        let result = await host.database.addLayout("L").uploadContainer(file, to: "Photo", recordId: 1)
            .awaitSingleResult()
        #expect(result.error?.code == .invalidRequest)
        #expect(result.error?.underlying is FMRest.ContainerFileError)
        #expect(host.server.requests.isEmpty)
    }

    @Test(arguments: [299_999, 300_001])
    func aPublisherOfAnotherLengthFailsAndNothingIsStored(length: Int) async throws {
        try await Self.withHarbor { harbor in
            let file = Self.stream(length, isReplayable: true)
            let result = await harbor.layout.uploadContainer(file, to: "Photo", recordId: 1).awaitSingleResult()
            #expect(result.error?.code == .invalidRequest)
            #expect(harbor.sandbox.counters.executedWrites == 0)
        }
    }

    // MARK: Sessions

    @Test func anUploadThatMeetsAnExpiredSessionIsSentAgain() async throws {
        try await Self.withHarbor { harbor in
            _ = try await harbor.layout.uploadContainer(Self.file(Data("1".utf8)), to: "Photo", recordId: 1)
                .firstValue()
            harbor.sandbox.expireSessions()
            for file in [Self.file(), Self.stream(Self.bytes.count, isReplayable: true)] {
                harbor.sandbox.expireSessions()
                _ = try await harbor.layout.uploadContainer(file, to: "Photo", recordId: 1).firstValue()
                let content = try await harbor.layout.downloadContainer(fieldName: "Photo", recordId: 1).toMemory()
                    .firstValue()
                #expect(content.data == Self.bytes)
            }
            #expect(harbor.sandbox.counters.executedWrites == 3)
        }
    }

    @Test func oneThatCannotBeSentTwiceFailsInstead() async throws {
        try await Self.withHarbor { harbor in
            _ = try await harbor.layout.getRecords().returnAs(FieldData.self).firstValue()
            harbor.sandbox.expireSessions()
            let file = Self.stream(Self.bytes.count, isReplayable: false)
            let upload = harbor.layout.uploadContainer(file, to: "Photo", recordId: 1)
            let result = await upload.awaitSingleResult()
            #expect(result.error?.code == .sessionLost)
            #expect(harbor.sandbox.counters.executedWrites == 0)
            // The refused session is no longer in the pool: the next upload logs in.
            #expect(try await upload.firstValue().modId == 1)
        }
    }

    /// Servers refuse a token as soon as they have read the head of the request.
    @Test func aRefusalBeforeTheBodyIsSentIsNoticedAndTheFileSentAgain() async throws {
        let host = try await ScriptedHost.start(.init(answersEarly: true)) { call in
            call.hasSession ? .json(#"{"modId":"6"}"#) : .invalidToken
        }
        defer { host.server.stop() }
        let database = host.database
        _ = try await database.validateSession().firstValue()
        host.forgetSessions()
        let file = Self.file(Data(count: 8 << 20))
        let upload = try await database.addLayout("L").uploadContainer(file, to: "Photo", recordId: 1).firstValue()
        #expect(upload.modId == 6)
        #expect(host.server.requests.filter { $0.target.contains("/containers/") }.map(\.token) == ["T1", "T2"])
    }

    @Test func cancellingEndsTheUploadAndItsSource() async throws {
        let host = try await ScriptedHost.start { _ in .json("{}") }
        defer { host.server.stop() }
        let (sent, cancelled) = (Gate(), Gate())
        let endless = FMRest.ContainerFile(fileName: "endless", length: 1 << 30, isReplayable: true) {
            Just(Data(count: 1000)).append(Empty(completeImmediately: false))
                .setFailureType(to: (any Error).self)
                .handleEvents(receiveOutput: { _ in sent.open() }, receiveCancel: { cancelled.open() })
                .eraseToAnyPublisher()
        }
        let subscriber = TrackingSubscriber<DataAPI.UploadResponse, FMRest.APIError>()
        let database = host.database
        database.addLayout("L").uploadContainer(endless, to: "Photo", recordId: 1).subscribe(subscriber)
        await sent.wait()
        subscriber.cancel()
        await cancelled.wait()
        await host.server.allConnectionsClosed()
        #expect(subscriber.history.count == 1)
    }

    @Test func aDownloadThatMeetsAnExpiredSessionReadsTheRecordAgain() async throws {
        try await Self.withHarbor { harbor in
            _ = try await harbor.layout.uploadContainer(Self.file(), to: "Photo", recordId: 1).firstValue()
            harbor.sandbox.expireSessions()
            let content = try await harbor.layout.downloadContainer(fieldName: "Photo", recordId: 1).toMemory()
                .firstValue()
            #expect(content.data == Self.bytes)
            #expect(harbor.sandbox.counters.logins == 2)

            // The session expires between reading the record and downloading its content.
            harbor.sandbox.inject(.expireToken, on: .downloadContainer)
            let again = try await harbor.layout.downloadContainer(fieldName: "Photo", recordId: 1).toMemory()
                .firstValue()
            #expect(again.data == Self.bytes)
            #expect(harbor.sandbox.counters.logins == 3)
        }
    }

    @Test func aReferenceOfADeadSessionIsStale() async throws {
        try await Self.withHarbor { harbor in
            _ = try await harbor.layout.uploadContainer(Self.file(), to: "Photo", recordId: 1).firstValue()
            let record = try await harbor.layout.record(id: 1).returnAs(FieldData.self).firstValue().data[
                0
            ]
            let reference = DataAPI.ContainerReference(record.fieldData["Photo"]?.text ?? "")
            harbor.sandbox.expireSessions()
            let result = await harbor.database.download(reference).toMemory().awaitSingleResult()
            #expect(result.error?.containerError?.code == .stale)
        }
    }

    @Test func aPoolOfSessionsReadsAndFetchesInTheSameOne() async throws {
        try await Self.withHarbor(.init(), { $0.sessions.maximumSessions = 4 }) { harbor in
            _ = try await harbor.layout.uploadContainer(Self.file(), to: "Photo", recordId: 1).firstValue()
            let layout = harbor.layout
            let contents = try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 1...12 {
                    group.addTask {
                        try await layout.downloadContainer(fieldName: "Photo", recordId: 1).toMemory().firstValue().data
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(contents == [Data](repeating: Self.bytes, count: 12))
        }
    }

    // MARK: Empty containers

    @Test func aContainerIsClearedByAnEdit() async throws {
        try await Self.withHarbor { harbor in
            _ = try await harbor.layout.uploadContainer(Self.file(), to: "Photo", recordId: 1).firstValue()
            _ = try await harbor.layout
                .editRecord(record: EditRecord(editRecord: ["Photo": ""]), recordId: 1).firstValue()
            let result = await harbor.layout.downloadContainer(fieldName: "Photo", recordId: 1).toMemory()
                .awaitSingleResult()
            #expect(result.error?.containerError?.code == .empty)
        }
    }

    @Test(arguments: [
        ("Photo", 1, DataAPI.ContainerError.Code.empty), ("Plans", 2, .empty), ("Plans", 4, .fieldMissing),
        ("Nothing", 1, .fieldMissing),
        ("Photo", 2, .fieldMissing), ("Name", 1, .notAURL),
    ])
    func aFieldWithoutContentSaysWhy(field: String, repetition: Int, code: DataAPI.ContainerError.Code) async throws {
        try await Self.withHarbor { harbor in
            let result = await harbor.layout
                .downloadContainer(fieldName: field, recordId: 1, repetition: repetition).toMemory().awaitSingleResult()
            #expect(result.error?.code == .container)
            #expect(result.error?.containerError?.code == code)
        }
    }

    @Test func aRecordThatIsMissingIsSaidToBe() async throws {
        try await Self.withHarbor { harbor in
            let result = await harbor.layout.downloadContainer(fieldName: "Photo", recordId: 9).toMemory()
                .awaitSingleResult()
            #expect(result.error?.fileMakerCode == .recordMissing)
        }
    }

    // MARK: Progress

    @Test func progressCountsTheBytesOfTheFile() async throws {
        try await Self.withHarbor { harbor in
            _ = try await harbor.layout.getRecords().returnAs(FieldData.self).firstValue()
            let log = NIOLockedValueBox<[DataAPI.TransferProgress]>([])
            let upload = harbor.layout.uploadContainer(Self.file(), to: "Photo", recordId: 1) { progress in
                log.withLockedValue { $0.append(progress) }
            }
            _ = try await upload.firstValue()
            let whole = [0, 65_536, 131_072, 196_608, 262_144, 300_000]
            expectNoDifference(log.withLockedValue { $0.map(\.completedBytes) }, whole)
            #expect(log.withLockedValue { $0.allSatisfy { $0.totalBytes == 300_000 } })

            // An upload that is sent again in a fresh session reports progress from 0 again.
            log.withLockedValue { $0 = [] }
            harbor.sandbox.expireSessions()
            _ = try await upload.firstValue()
            let sent = log.withLockedValue { $0.map(\.completedBytes) }
            expectNoDifference(Array(sent.suffix(whole.count)), whole)
            #expect(sent.count { $0 == 0 } == 2)
        }
    }

    // MARK: Names

    @Test(.thorough) func anyNameArrivesAsItIs() async throws {
        try await Self.withHarbor { harbor in
            var generator = SeededRandom(seed: 11)
            var names = [
                "bow.jpg", "Grüße & Küsse.pdf", "日本語.txt", "🚢.png", "a;b=c.txt", "e\u{301}.txt", "\u{301}e.txt",
                "100 %22.txt",
                "name=\"x\"; filename=y.txt", "'single'.txt", "two\u{2028}lines", "\u{202E}gpj.exe",
            ]
            names += (1...60).map { _ in String.randomFileName(using: &generator) }
            for name in names {
                _ = try await harbor.layout.uploadContainer(
                    Self.file(Data(name.utf8), name: name),
                    to: "Photo",
                    recordId: 1
                )
                .firstValue()
                let content = try await harbor.layout.downloadContainer(fieldName: "Photo", recordId: 1).toMemory()
                    .firstValue()
                #expect(content.data == Data(name.utf8))
                // A download removes folders, control characters, line separators and direction marks from the name.
                let last = name.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? ""[...].unicodeScalars
                let visible = last.filter { scalar in
                    let category = scalar.properties.generalCategory
                    return ![.control, .lineSeparator, .paragraphSeparator].contains(category)
                        && !scalar.properties.isBidiControl
                }
                let expected = [".", ".."].contains(String(String.UnicodeScalarView(visible))) ? [] : Array(visible)
                #expect(Array((content.fileName ?? "").unicodeScalars) == expected)
            }
        }
    }

    @Test(.tags(.earlierClients))
    func theModIdOfAnUploadIsSentSoAStaleOneIsRefused() async throws {
        try await World.run { world in
            let created = try await world.contacts.createRecord().firstValue()
            let stale = await world.contacts.uploadToContainerField(
                fieldName: "Photo",
                recordId: created.recordId,
                modId: 99,
                file: Self.text("a.txt")
            ).awaitSingleResult().failure
            expectNoDifference(stale?.fileMakerCode, .modIdMismatch)
            let fresh = try await world.contacts.uploadContainer(
                Self.text("a.txt"),
                to: "Photo",
                recordId: created.recordId,
                modId: created.modId
            ).firstValue()
            expectNoDifference(fresh.modId, 1)
        }
    }

    @Test(.tags(.earlierClients))
    func anUploadGoesWithTheSessionsTokenAndAMediaTypeOfItsOwn() async throws {
        try await ScriptedHost.run { host in
            _ = await host.database.addLayout("People").uploadToContainerField(
                fieldName: "Photo",
                recordId: 1,
                file: Self.text("a.txt")
            ).awaitSingleResult()
            let upload = try #require(host.calls.last { $0.target.contains("/containers/") })
            #expect(upload.headers.first(name: "Authorization")?.hasPrefix("Bearer ") == true)
            expectNoDifference(upload.headers["Content-Type"].count, 1)
            #expect(
                upload.headers.first(name: "Content-Type")?.hasPrefix("multipart/form-data; boundary=") == true
            )
        }
    }

    @Test(.tags(.earlierClients))
    func theFileNameIsQuotedTheRepetitionIsInThePathAndTheNewModIdComesBack() async throws {
        try await ScriptedHost.run { host in
            _ = await host.database.addLayout("People").uploadToContainerField(
                fieldName: "Photo",
                recordId: 1,
                repetition: 2,
                file: Self.text("my \"file\".txt")
            ).awaitSingleResult()
            let upload = try #require(host.calls.last { $0.target.contains("/containers/") })
            #expect(upload.target.hasSuffix("/records/1/containers/Photo/2"))
            #expect(upload.text.contains(#"name="upload"; filename="my \"file\".txt""#))
        }
    }
}

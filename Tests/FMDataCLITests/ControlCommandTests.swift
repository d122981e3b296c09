import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

@Suite(.timeLimit(.minutes(15))) struct ControlCommandTests {
    @Test(arguments: [
        ("fault find:html502*2", ControlCommand.fault(.init(.html(status: 502), on: .find, count: 2))),
        ("clear-faults", .clearFaults), ("expire", .expire), ("restart", .restart), ("reset", .reset),
        ("advance 901", .advance(.seconds(901))), ("advance 0.5", .advance(.milliseconds(500))),
        ("sign-in ada@example.com 7F", .signIn(account: "ada@example.com", requestId: "7F")),
        ("sign-in Ada Lovelace 7F", .signIn(account: "Ada Lovelace", requestId: "7F")),
        ("held", .held), ("release", .release(count: nil)), ("release 2", .release(count: 2)), ("counters", .counters),
        ("sessions", .sessions),
        ("records World/Contacts", .records(table: "Contacts", database: "World")),
        (
            #"create World/Contacts {"Name":"Ada","Notes":"a {b} c"}"#,
            .create(table: "Contacts", database: "World", values: ["Name": "Ada", "Notes": "a {b} c"])
        ),
        (
            #"edit My World/My Contacts/3 {"City": "Kiel"}"#,
            .edit(recordId: 3, table: "My Contacts", database: "My World", values: ["City": "Kiel"])
        ),
        ("delete World/Contacts/3", .delete(recordId: 3, table: "Contacts", database: "World")),
        ("lock World/Contacts/3", .lock(recordId: 3, table: "Contacts", database: "World", isLocked: true)),
        ("unlock World/Contacts/3", .lock(recordId: 3, table: "Contacts", database: "World", isLocked: false)),
        ("save a folder", .save(folder: "a folder")),
    ])
    func aLineIsRead(_ line: String, _ command: ControlCommand) throws {
        expectNoDifference(try ControlCommand(line), command)
    }

    @Test(arguments: [
        "", "nothing", "fault", "fault nonsense", "expire now", "records World", "records a/b/c", "lock World/Contacts",
        "lock World/Contacts/x", "delete World/Contacts", "create World/Contacts", #"create World {"Name":"Ada"}"#,
        #"create World/Contacts {"Name":1}"#, #"edit World/Contacts {"Name":"Ada"}"#, "save", "release x", "release 0",
        "held 1",
        "advance", "advance x", "advance 0", "advance -1", "sign-in", "sign-in ada@example.com",
    ])
    func nonsenseIsRefused(_ line: String) {
        #expect(throws: ControlCommand.Failure.self) { try ControlCommand(line) }
    }

    @Test func commandsActOnTheSandbox() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        func say(_ line: String) -> String { ControlReader.answer(to: line, sandbox) }
        #expect(say("fault login:fullHost") == "ok")
        #expect(sandbox.pendingFaults == [.init(.fullHost, on: .login)])
        #expect(say("clear-faults") == "ok")
        #expect(sandbox.pendingFaults.isEmpty)
        #expect(say("lock World/Contacts/2") == "ok")
        #expect(sandbox.records(ofTable: "Contacts", inDatabase: "World")?[1].isLocked == true)
        #expect(say("reset") == "ok")
        #expect(sandbox.records(ofTable: "Contacts", inDatabase: "World")?[1].isLocked == false)
        #expect(say("lock World/Contacts/99") == "error: 101 Record is missing")
        #expect(say(#"create World/Contacts {"Name":"Emmy Noether"}"#) == "4")
        #expect(say(#"edit World/Contacts/4 {"City":"Bryn Mawr"}"#) == "ok")
        #expect(sandbox.records(ofTable: "Contacts", inDatabase: "World")?[3].values["City"] == "Bryn Mawr")
        #expect(say(#"edit World/Contacts/4 {"Nope":"x"}"#) == "error: 102 Field is missing")
        #expect(say("delete World/Contacts/4") == "ok")
        #expect(say("delete World/Contacts/4") == "error: 101 Record is missing")
        #expect(say("records World/Nope") == "error: 106 Table is missing")
        #expect(say("jump").hasPrefix("error: unknown command"))
        #expect(say("sessions") == "[]")
        #expect(say("held") == "0")
        #expect(say("release") == "ok")
        #expect(say("expire") == "ok")
        #expect(say("restart") == "ok")
        let phones = try JSONDecoder().decode(
            [[String: String]].self,
            from: Data(stripped(say("records World/Phones")))
        )
        #expect(phones.map { $0["Kind"] } == ["work", "home", "mobile"])
        let counters = try JSONSerialization.jsonObject(with: Data(say("counters").utf8)) as? [String: Any]
        #expect(counters?["executedWrites"] as? Int == 0)
        await sandbox.stop()
    }

    @Test func theClockIsAdvanced() async throws {
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.keepAlive = .seconds(3600)
                $0.clock = ManualClock()
            }
        )
        #expect(ControlReader.answer(to: "advance 5", sandbox) == "ok")
        await sandbox.stop()
        let other = try await Sandbox.start(configuration: .patient)
        #expect(ControlReader.answer(to: "advance 5", other) == "error: the clock is the machine's")
        #expect(
            ControlReader.answer(to: "sign-in ada 7F", other) == "error: no sign-in has begun with that request id"
        )
        await other.stop()
    }

    /// Removes the record ids, which are numbers: only the texts are compared.
    private func stripped(_ json: String) -> [UInt8] {
        Array(json.replacing(/"\$recordId":\d+,?/, with: "").utf8)
    }

    @Test func theStateIsSaved() async throws {
        try await withTemporaryFolder { folder in
            let sandbox = try await Sandbox.start(configuration: .patient)
            func save(_ name: String, below place: URL = folder) -> String {
                ControlReader.answer(to: "save \(name)", sandbox, files: WritableFolder(place.path))
            }
            for (name, place) in [
                (".", ""), (folder.path, ""), ("a folder/b", "a folder/b"), ("\(folder.path)/c", "c"),
            ] {
                let file = folder.appendingPathComponent(place).appendingPathComponent("World.json")
                #expect(save(name) == "ok")
                #expect(try Solution.load(from: file).tables.count == 4)
                try FileManager.default.removeItem(at: file)
            }
            try Data().write(to: folder.appendingPathComponent("file"))
            #expect(save("file/x") == "error: cannot save into file/x: Not a directory")
            await sandbox.stop()
        }
    }

    @Test func nothingIsSavedElsewhere() async throws {
        try await withTemporaryFolder { folder in
            let sandbox = try await Sandbox.start(configuration: .patient)
            let (inside, outside) = (folder.appendingPathComponent("inside"), folder.appendingPathComponent("outside"))
            for place in [inside, outside] {
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            }
            let link = inside.appendingPathComponent("link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: outside)
            for name in [
                outside.path, folder.path, "..", "../outside", "a/../../outside", "link", "link/a",
                "\(inside.path)/../outside",
                "\(inside.path)2", "/",
            ] {
                expectNoDifference(
                    ControlReader.answer(to: "save \(name)", sandbox, files: WritableFolder(inside.path)),
                    "error: cannot save into \(name): only below \(inside.path)"
                )
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: inside.path) == ["link"])
            // Without a folder given, files may be saved only below the folder where the program was started.
            #expect(ControlReader.answer(to: "save \(outside.path)", sandbox).hasPrefix("error: cannot save into "))
            await sandbox.stop()
        }
    }
}

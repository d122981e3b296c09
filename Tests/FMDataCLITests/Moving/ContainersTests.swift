import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// `fmdata containers` from end to end.
@Suite(.timeLimit(.minutes(15))) struct ContainersTests {
    /// Members whose first ones have files.
    private static func withPictures(_ body: (Home) async throws -> Void) async throws {
        try await Home.withMembers(4) { home in
            for (number, text) in [(1, "one"), (2, "two"), (3, "three")] {
                try home.write(text, to: "p.txt")
                let put = try await home.fmdata(
                    "container",
                    "put",
                    "Members",
                    "\(number)",
                    "Photo",
                    home.path("p.txt"),
                    "--name",
                    "p\(number).txt"
                )
                #expect(put.status == 0, "\(put.errors)")
            }
            try await body(home)
        }
    }

    private func export(_ home: Home, _ more: String...) async throws -> FinishedProgram {
        try await FinishedProgram.run(
            ["containers", "export", "Members", "--field", "Photo", "--into", home.path("out"), "--csv"] + more,
            environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
        )
    }

    private func put(_ home: Home, _ more: String...) async throws -> FinishedProgram {
        try await FinishedProgram.run(
            ["containers", "import", "Members", "--field", "Photo", "--from", home.path("out"), "--csv"] + more,
            environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
        )
    }

    @Test(.thorough) func whatHasNotChangedIsNotFetchedAgain() async throws {
        try await Self.withPictures { home in
            expectNoDifference(
                awaited: try await export(home, "--key", "Email"),
                FinishedProgram(
                    status: 0,
                    output: "recordId,file,byteCount,problem\r\n1,1-p1.txt,3,\r\n2,2-p2.txt,3,\r\n3,3-p3.txt,5,\r\n",
                    errors: "3 files are in \(home.path("out")); 3 of them are new.\n"
                )
            )
            expectNoDifference(home.text("out/2-p2.txt"), "two")
            expectNoDifference(
                home.text("out/manifest.ndjson")?.split(separator: "\n").first.map(String.init),
                #"{"byteCount":3,"file":"1-p1.txt","fileName":"p1.txt","key":"m1@example.com","modId":1,"recordId":1,"#
                    + #""sha256":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","type":"text/plain"}"#
            )
            let before = home.sandbox.counters.requests[.downloadContainer, default: 0]
            try home.write("TWO", to: "p.txt")
            let arguments = ["container", "put", "Members", "2", "Photo", home.path("p.txt"), "--name", "new.txt"]
            _ = try await FinishedProgram.run(
                arguments,
                environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
            )
            // A list whose last line a kill has cut.
            let list = try FileHandle(forWritingTo: home.file("out/manifest.ndjson"))
            try list.seekToEnd()
            try list.write(contentsOf: Data("{\"recordId\":".utf8))
            try list.close()
            let again = try await export(home, "--key", "Email")
            expectNoDifference(again.output, "recordId,file,byteCount,problem\r\n2,2-new.txt,3,\r\n")
            expectNoDifference(home.text("out/2-new.txt"), "TWO")
            #expect(!home.exists("out/2-p2.txt"))
            let downloads = home.sandbox.counters.requests[.downloadContainer, default: 0] - before
            #expect(downloads > 0 && downloads <= 2, "\(downloads)")
        }
    }

    @Test(.thorough) func filesGoBackAndAreVerified() async throws {
        try await Self.withPictures { home in
            #expect(try await export(home, "--key", "Email").status == 0)
            expectNoDifference(
                awaited: try await put(home),
                FinishedProgram(
                    status: 0,
                    output: "file,recordId,result,problem\r\n1-p1.txt,1,unchanged,\r\n2-p2.txt,2,unchanged,\r\n"
                        + "3-p3.txt,3,unchanged,\r\n",
                    errors: ""
                )
            )
            // The records have other ids now, one has another content, one is gone, and a file was damaged.
            try home.sandbox.editRecord(4, ["Email": "x"], ofTable: "Members", inDatabase: "Single")
            try home.sandbox.editRecord(1, ["Email": "y"], ofTable: "Members", inDatabase: "Single")
            try home.sandbox.editRecord(4, ["Email": "m1@example.com"], ofTable: "Members", inDatabase: "Single")
            try home.sandbox.editRecord(2, ["Email": "z"], ofTable: "Members", inDatabase: "Single")
            try home.write("thRee", to: "out/3-p3.txt")
            let dry = try await put(home, "--key", "Email", "--dry-run")
            #expect(dry.output.contains("1-p1.txt,4,to send,"), "\(dry.output)")
            let finished = try await put(home, "--key", "Email")
            expectNoDifference(
                finished,
                FinishedProgram(
                    status: 2,
                    output:
                        "file,recordId,result,problem\r\n1-p1.txt,4,sent,\r\n2-p2.txt,,failed,No record has the key.\r\n"
                        + "3-p3.txt,,failed,The file is not the one of the list: its checksum differs.\r\n",
                    errors: ""
                )
            )
            let text = try await home.fmdata("container", "get", "Members", "4", "Photo", "-o", "-")
            expectNoDifference(text.output, "one")
        }
    }

    @Test(.thorough) func aLostAnswerIsLookedUp() async throws {
        try await Self.withPictures { home in
            #expect(try await export(home).status == 0)
            _ = try await home.fmdata("edit", "Members", "1", "Photo=")
            home.sandbox.inject(.resetAfterExecution, on: .uploadContainer)
            let finished = try await put(home)
            #expect(finished.status == 0, "\(finished.output)\(finished.errors)")
            #expect(finished.output.contains("1-p1.txt,1,sent,"), "\(finished.output)")
            _ = try await home.fmdata("edit", "Members", "1", "Photo=")
            home.sandbox.inject(.reset, on: .uploadContainer)
            let lost = try await put(home)
            #expect(lost.status == 2 && lost.output.contains("1-p1.txt,1,unknown,"), "\(lost.output)")
        }
    }

    @Test(arguments: ["../x", "/etc/passwd", "..", ""])
    func theListLeadsNowhereElse(_ name: String) throws {
        try withTemporaryFolder { folder in
            let list = try ContainerManifest(of: folder, mustExist: false)
            #expect(list.path(of: ContainerManifest.Entry(recordId: 1, modId: 1, file: name)) == nil)
        }
    }

    /// The vectors of NIST, in pieces.
    @Test(
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ]
    )
    func checksums(_ text: String, _ digest: String) {
        let bytes = Array(text.utf8)
        for piece in bytes.count < 1000 ? [1, 63, 64] : [10_007] {
            var sum = FileDigest()
            for start in stride(from: 0, to: bytes.count, by: piece) {
                sum.add(bytes[start..<min(start + piece, bytes.count)])
            }
            expectNoDifference(sum.text(), digest)
        }
    }
}

import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

extension Solution {
    /// The database `Single` with the layout `Members`.
    static func members(_ count: Int) -> Solution {
        .single(
            "Members",
            fields: [
                Field("Id", .number, validation: .init(unique: true)), Field("Name"),
                Field("Email", validation: .init(unique: true)), Field("City"), Field("Balance", .number),
                Field("Joined", .date), Field("Photo", .container),
                Field("Label", calculation: "Name & \" of \" & City"),
            ],
            layoutFields: ["Id", "Name", "Email", "City", "Balance", "Joined", "Photo", "Label"],
            records: (0..<count).map { number in
                Record([
                    "Id": "\(number + 1)", "Name": "Member \(number + 1)", "Email": "m\(number + 1)@example.com",
                    "City": number.isMultiple(of: 2) ? "Bath" : "Lyon", "Balance": "\(number).5",
                    "Joined": "11/01/2026",
                ])
            }
        )
    }
}

extension Home {
    /// Runs a test with a user of the database `Single`, which has this number of members.
    static func withMembers(_ count: Int, _ body: (Home) async throws -> Void) async throws {
        var configuration = Sandbox.Configuration()
        configuration.maximumSessions = 100
        try await with(configuration, solutions: [.members(count)]) { home in
            try await body(
                home.setting([
                    "FM_HOST": home.sandbox.url, "FM_DATABASE": "Single", "FM_USER": "admin", "FM_PASSWORD": "",
                ])
            )
        }
    }

    /// The members on the host, in the order of their creation.
    var members: [Solution.Record] { sandbox.records(ofTable: "Members", inDatabase: "Single") ?? [] }

    /// The values of a field of all members.
    func values(_ field: String) -> [String] { members.map { $0.values[field] ?? "" } }

    /// Runs the command, sends it a signal at a certain moment, and does something else then.
    func fmdata(
        _ arguments: [String],
        endingBy signal: Int32,
        when moment: () async -> Void,
        afterwards: () -> Void = {}
    ) async throws -> FinishedProgram {
        let id = Locked<Int32?>(nil)
        let environment = ["HOME": folder.path].merging(environment) { $1 }
        async let finished = FinishedProgram.run(
            arguments,
            environment: environment,
            started: { number in id.change { $0 = number } }
        )
        await moment()
        if let id = id.value { kill(id, signal) }
        afterwards()
        return try await finished
    }

    func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: file(path)) }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: file(path).path) }

    /// A path below the folder, as an argument.
    func path(_ name: String) -> String { file(name).path }
}

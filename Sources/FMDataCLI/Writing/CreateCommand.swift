import ArgumentParser
import FMData

/// The values of a write.
struct FieldOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The values of fields.",
            discussion: """
                City=Calgary     a text, or the digits of a number; City= empties the field
                Born=1815-12-10  dates and times in ISO 8601
                Total:=12.5      JSON: a number, a text, a list for the repetitions of a field
                Notes=@file      the text of a file; @- is standard input
                @file or -       a JSON object of fields, or {"fieldData": …, "portalData": …}
                """,
            valueName: "field=value"
        ),
        completion: .fields("=")
    )
    var values: [String] = []
}

/// `fmdata create`: a new record.
struct CreateCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Creates a record, and prints its id.",
        discussion: "Without a value the record has only what FileMaker enters by itself."
    )

    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @OptionGroup var fields: FieldOptions
    @Flag(help: .dryRun) var dryRun = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let values = try await fields.values(in: layout, visit)
            let record = DataAPI.EditRecord(
                createRecord: values.fields,
                portalData: values.portals.isEmpty ? nil : values.portals
            )
            let made = try await write(visit) { $0.addLayout(layout).createRecord(record: record) }
            if let made { try print(recordId: made.recordId, modId: made.modId) }
        }
    }
}

extension FieldOptions {
    /// The values as the layout wants them.
    func values(in layout: String, _ visit: HostVisit) async throws -> FieldArguments {
        let known = try await visit.fields(of: visit.open().addLayout(layout))
        let arguments = try FieldArguments(values, known)
        for (name, value) in arguments.fields {
            guard case .text(let text) = value else { continue }
            // A set of check boxes has several values.
            for line in text.lines {
                if let advice = known.advice(on: line, of: try known.known(name)) { await visit.notice(advice) }
            }
        }
        return arguments
    }
}

/// `fmdata edit`: changes a record.
struct EditCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Changes fields of a record, and prints its new modId."
    )

    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @Argument(help: "The record's id.")
    var recordId: Int

    @OptionGroup var fields: FieldOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Change the record only if it still has this modId; else end with status 6.",
            valueName: "number"
        )
    )
    var modId: Int?

    @Flag(help: .dryRun) var dryRun = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func validate() throws {
        guard !fields.values.isEmpty else { throw ValidationError("Nothing to change: name a field and its value.") }
    }

    func run() async throws {
        try await visit { visit in
            let values = try await fields.values(in: layout, visit)
            let edit = DataAPI.EditRecord(
                editRecord: values.fields,
                portalData: values.portals.isEmpty ? nil : values.portals,
                modId: modId
            )
            let made = try await write(visit) {
                $0.addLayout(layout).editRecord(record: edit, recordId: recordId)
            }
            if let made { try print(recordId: recordId, modId: made.modId) }
        }
    }
}

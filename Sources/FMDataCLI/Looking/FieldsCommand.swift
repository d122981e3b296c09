import ArgumentParser
import FMData

/// `fmdata fields`: the fields of a layout.
struct FieldsCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "fields",
        abstract: "Lists the fields of a layout, without those in its portals."
    )

    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let fields = try await visit.fields(of: visit.openForReading().addLayout(layout))
            try printer(FieldRow.columns).printAll(fields.fields.map { FieldRow($0).row() })
        }
    }
}

/// `fmdata portals`: the portals of a layout.
struct PortalsCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "portals",
        abstract: "Lists the portals of a layout, and the fields in them."
    )

    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let metadata = try await visit.openForReading().addLayout(layout).getLayoutMetadata().firstValue()
            for name in metadata.ambiguousPortals {
                await visit.notice(
                    "Several portals are called \"\(name)\", and the host tells one of them: give them object names."
                )
            }
            let rows = LayoutFields(metadata, of: layout).portals.flatMap { name, fields in
                fields.map { FieldRow($0).row(in: name) }
            }
            try printer([OutputColumn("portal")] + FieldRow.columns).printAll(rows)
        }
    }
}

/// What is printed of a field.
struct FieldRow {
    static let columns = [
        OutputColumn("field"), OutputColumn("type"), OutputColumn("kind"), OutputColumn("shown"),
        OutputColumn("valueList"), OutputColumn("flags"),
    ]

    private let field: LayoutFields.Field

    init(_ field: LayoutFields.Field) { self.field = field }

    /// - Parameter portal: The portal of the field; nil for none.
    func row(in portal: String? = nil) -> OutputRow {
        let shown = field.shownRepetitions
        let isShort = shown == 1...1 && field.maxRepeat <= 1
        let range = shown.count == 1 ? "\(shown.lowerBound)" : "\(shown.lowerBound)-\(shown.upperBound)"
        let valueList = field.valueList.flatMap { $0.isEmpty ? nil : $0 }
        return OutputRow(
            cells: (portal.map { [$0] } ?? []) + [
                field.name, field.result.rawValue, field.type.rawValue,
                isShort ? "" : "\(range) of \(field.maxRepeat)", valueList ?? "", flags.joined(separator: " "),
            ],
            object: [
                "portal": portal.map(OutputValue.text),
                "field": .text(field.name),
                "type": .text(field.result.rawValue),
                "kind": .text(field.type.rawValue),
                "repetitions": .int(field.maxRepeat),
                "shown": .list([.int(shown.lowerBound), .int(shown.upperBound)]),
                "valueList": valueList.map(OutputValue.text),
                "display": (field.displayType?.rawValue).map(OutputValue.text),
                "maxCharacters": field.maxCharacters.flatMap { $0 > 0 ? .int($0) : nil },
                "flags": .texts(flags),
            ]
        )
    }

    private var flags: [String] {
        [
            (field.global, "global"), (field.autoEnter, "autoEnter"), (field.notEmpty, "notEmpty"),
            (field.numeric, "numeric"), (field.fourDigitYear, "fourDigitYear"), (field.timeOfDay, "timeOfDay"),
        ]
        .filter(\.0).map(\.1)
    }
}

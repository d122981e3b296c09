import ArgumentParser
import FMData

/// Which parts of records a command takes.
struct RecordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Print these fields: Name,City. The host sends all of the layout in any case.",
            valueName: "fields"
        ),
        completion: .fields
    )
    var fields: [String] = []

    @Option(
        help: ArgumentHelp(
            "Print the rows of these portals: Phones,Lines:200. A number is the most rows, instead of 50.",
            valueName: "portals"
        )
    )
    var portals: [String] = []

    /// The columns to print.
    func columns(_ fields: LayoutFields) throws -> RecordColumns {
        RecordColumns(
            fields,
            selection: try selection(fields),
            portals: portals.isEmpty ? nil : try requests(fields).map(\.name)
        )
    }

    /// The names of the selected fields; nil for all.
    private func selection(_ fields: LayoutFields) throws -> [(field: LayoutFields.Field, name: String)]? {
        guard !self.fields.isEmpty else { return nil }
        // The name of a field may contain a comma.
        let names = self.fields.flatMap { fields.field($0) == nil ? $0.split(separator: ",").map(String.init) : [$0] }
        return try names.map { name in
            let field = try fields.known(name)
            guard fields.fields.contains(where: { $0.name == field.name }) else {
                throw CommandError("The field \"\(name)\" is in a portal: --portals prints its rows.", .usage)
            }
            return (field, name)
        }
    }

    /// The portals to ask for; none unless some are named, since their rows cost the host much.
    func requests(_ fields: LayoutFields) throws -> [DataAPI.PortalRequest] {
        let names = fields.portals.map(\.name)
        let words = portals.flatMap { names.contains($0) ? [$0] : $0.split(separator: ",").map(String.init) }
        return try words.map { word in
            if let match = word.wholeMatch(of: #/(.+):([0-9]+)/#), !names.contains(word), let limit = Int(match.2) {
                return DataAPI.PortalRequest(name: try fields.knownPortal(String(match.1)), limit: limit)
            }
            return DataAPI.PortalRequest(name: try fields.knownPortal(word))
        }
    }
}

/// How a table of records looks.
struct RecordTableOptions: ParsableArguments {
    @Flag(name: [.customShort("x"), .long], help: "In a table, print one field per line, however wide it is.")
    var expanded = false

    /// Prints records in the form of the options.
    ///
    /// - Parameter isOne: Whether it is one record, which has one field per line.
    func printer(
        _ columns: RecordColumns,
        _ parts: RecordOptions,
        _ options: OutputOptions,
        isOne: Bool = false
    ) throws -> RowPrinter {
        if !parts.portals.isEmpty, options.form == .csv {
            throw CommandError("CSV has no place for portals: --json or --ndjson.", .usage)
        }
        return RowPrinter(columns.columns, options, isOne: isOne, isExpanded: expanded || isOne)
    }
}

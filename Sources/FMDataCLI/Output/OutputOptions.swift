import ArgumentParser
import Foundation

/// A form in which rows are printed.
enum OutputForm: Equatable, Sendable {
    /// Columns for people; wide rows as one field per line.
    case table
    /// One JSON array.
    case json
    /// One JSON object per line.
    case ndjson
    /// RFC 4180, with a line of names.
    case csv
}

/// The form of a command's data.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON array, or one object where there is one thing to print.")
    var json = false

    @Flag(help: "Print a JSON object per line, as is done without an option when standard output is no terminal.")
    var ndjson = false

    @Flag(help: "Print CSV (RFC 4180), with a line of names.")
    var csv = false

    @Flag(help: "Print a table, as is done without an option at a terminal. A wide one has one field per line.")
    var table = false

    func validate() throws {
        guard [json, ndjson, csv, table].count(where: \.self) < 2 else {
            throw ValidationError("Only one of --json, --ndjson, --csv and --table.")
        }
    }

    /// The form that was asked for, else that of a terminal or of a program that reads.
    var form: OutputForm {
        if json { return .json }
        if ndjson { return .ndjson }
        if csv { return .csv }
        if table { return .table }
        return isatty(STDOUT_FILENO) != 0 ? .table : .ndjson
    }

    /// Whether errors are JSON as well: only where JSON was asked for.
    var errorsAreJSON: Bool { json || ndjson }
}

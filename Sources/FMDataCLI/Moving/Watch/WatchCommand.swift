import ArgumentParser
import FMData
import FMDataFleet
import Foundation
import OpenCombine

/// `fmdata watch`: changes of records as they happen.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract:
            "Prints changes of the records that fulfil conditions, a JSON object per line, until it is interrupted.",
        discussion: """
            The host sends no news, so it is asked now and then; two changes of a record in between are one. With --cursor the \
            next run tells what has happened meanwhile. With --exec a program gets the lines of each batch of changes on its \
            standard input, and the cursor moves on when it has ended with status 0. A batch may come a second time after a \
            kill, and never gets lost. With --stream the changes go to a stream of Redis or Valkey, for consumers in any \
            language: first all records, and from then on, also after a kill, what has changed since the last entry. Of several \
            programs with one stream one asks the host, and another one goes on when it ends.
            """
    )

    @OptionGroup var found: FoundSetOptions

    @Option(
        help: ArgumentHelp("A file that keeps how far the changes were followed.", valueName: "file"),
        completion: .file()
    )
    var cursor: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How often the host is asked after a change; when nothing happens, less (5).",
            valueName: "seconds"
        )
    )
    var every: Double?

    @Flag(help: "Print the records that are there at first, too.")
    var initial = false

    @Option(
        help: ArgumentHelp(
            "Add the changes to the stream fm:{name}:changes of a store instead of printing them.",
            valueName: "name"
        )
    )
    var stream: String?

    @Option(
        help: ArgumentHelp(
            """
            The store of the stream, as redis://cache.example.com:6379, rediss://… for TLS or unix:///run/valkey.sock \
            (what \(StoreAddress.variable) says). A store with a password has to be in the variable.
            """,
            valueName: "url"
        )
    )
    var to: String?

    @OptionGroup(title: "Parts of the records") var parts: RecordOptions
    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions

    @Option(
        parsing: .remaining,
        help: ArgumentHelp(
            "Run this program for each batch of changes. Everything behind it is its own.",
            valueName: "program"
        )
    )
    var exec: [String] = []

    func validate() throws {
        guard every.map({ $0.isFinite && (0.01...86_400).contains($0) }) ?? true else {
            throw ValidationError("--every takes seconds, up to a day.")
        }
        guard found.conditions.last != "--exec" else { throw ValidationError("--exec needs a program.") }
        if stream != nil {
            guard !initial, cursor == nil, exec.isEmpty, parts.portals.isEmpty else {
                throw ValidationError("--stream excludes --initial, --cursor, --exec and --portals.")
            }
        } else if to != nil {
            throw ValidationError("--to needs --stream, the name of the stream in that store.")
        }
        guard found.sort.isEmpty else { throw ValidationError("--sort has no meaning here: changes have no order.") }
    }

    func run() async throws {
        try found.checkOptions()
        let stream = try changeStream(ProcessInfo.processInfo.environment)
        try await HostVisit.make(with: connection, talk, errorsAreJSON: true) { visit in try await watch(visit, stream)
        }
    }

    private func watch(_ visit: HostVisit, _ stream: ChangeStream?) async throws {
        let layout = try await visit.open().addLayout(found.layout)
        let fields = try await layout.fields()
        let typed = layout.of(AnyFields.self)
        let records = (try found.find(fields).map(typed.find) ?? typed.allRecords).portals(try parts.requests(fields))
        let columns = try parts.columns(fields)
        if let stream { return try await publish(records, columns, to: stream) }
        try await tell(records, columns)
    }

    /// The stream that gets the changes; nil if they are printed or given to a program.
    func changeStream(_ environment: [String: String]) throws -> ChangeStream? {
        guard let stream else { return nil }
        let address = try StoreAddress(option: "--to", to, environment: environment)
        do {
            return try ChangeStream(stream, store: address, logger: talk.storeLogger())
        } catch {
            throw ValidationError("--stream takes a name of letters, digits, -, _, . and :, up to 200 characters.")
        }
    }

    private func publish(
        _ records: DataAPI.FoundSet<AnyFields>,
        _ columns: RecordColumns,
        to stream: ChangeStream
    ) async throws {
        do {
            try await stream.publish(records, options: options) { columns.values(of: $0) }
        } catch {
            await stream.shutdown()
            throw error
        }
    }

    /// Prints the changes, or gives them to a program.
    private func tell(_ records: DataAPI.FoundSet<AnyFields>, _ columns: RecordColumns) async throws {
        let file = cursor.map { CursorFile(URL(fileURLWithPath: $0)) }
        let earlier = try file?.read()
        let lines = ChangeLines(columns: columns)
        let receiver = exec.isEmpty ? ChangeReceiver.output : .program(exec)

        // After a reset the records that follow take the place of all before.
        var tellsSnapshot = initial
        for try await event in records.changes(since: earlier, options: options, isolation: nil).values {
            switch event {
            case .snapshot(let records, _):
                if tellsSnapshot { try await receiver.take(records.map { lines.line("present", $0) }) }
            case .unreadable: break
            case .ready(let cursor):
                tellsSnapshot = false
                try file?.write(cursor)
            case .changed(let changes, _, let cursor):
                try await receiver.take(lines.lines(of: changes))
                try file?.write(cursor)
            case .reset(let reason):
                tellsSnapshot = true
                try await receiver.take([lines.line(of: reason)])
            }
        }
    }

    private var options: DataAPI.LiveOptions {
        var options = DataAPI.LiveOptions()
        if let every {
            let least = Duration.milliseconds(Int(every * 1000))
            options.every = least...max(least, min(least * 12, .seconds(60)))
        }
        return options
    }
}

/// Changes as lines.
private struct ChangeLines {
    let columns: RecordColumns

    func line(_ change: String, _ record: AnyFields.Record) -> String {
        var members: [OutputValue.Member] = [.init(name: "change", value: .text(change))]
        if case .object(let own) = columns.row(of: record).object { members += own }
        return OutputValue.object(members).json
    }

    func lines(of changes: DataAPI.ChangeSet<AnyFields>) -> [String] {
        changes.removed.map { removal in
            let object: OutputValue = [
                "change": .text("removed"), "recordId": .int(removal.recordId), "reason": .text("\(removal.reason)"),
            ]
            return object.json
        } + changes.inserted.map { line("inserted", $0) } + changes.updated.map { line("updated", $0.record) }
    }

    func line(of reason: DataAPI.ResetReason) -> String {
        (["change": .text("reset"), "reason": .text("\(reason)")] as OutputValue).json
    }
}

/// Where changes go.
private enum ChangeReceiver {
    case output
    case program([String])

    func take(_ lines: [String]) async throws {
        guard !lines.isEmpty else { return }
        let text = lines.joined(separator: "\n") + "\n"
        switch self {
        case .output:
            let output = StandardOutput()
            try output.write(text)
            try output.flush()
        case .program(let words): try await BatchProgram.run(words, input: Data(text.utf8))
        }
    }
}

/// The file in which the cursor of a watch is kept.
struct CursorFile {
    private let file: PrivateFile

    init(_ url: URL) { file = PrivateFile(url) }

    /// The cursor of an earlier run; nil if there is none.
    func read() throws -> DataAPI.LiveCursor? {
        let content: Data?
        do {
            content = try file.read()
        } catch is PrivateFile.NotPrivate {
            throw CommandError("\(file.url.path) can be changed by others, so it is not used: chmod 600 it.")
        }
        guard let content else { return nil }
        guard let cursor = try? JSONDecoder().decode(DataAPI.LiveCursor.self, from: content) else {
            throw CommandError("\(file.url.path) is no cursor of fmdata watch, or damaged. Remove it to begin anew.")
        }
        return cursor
    }

    func write(_ cursor: DataAPI.LiveCursor) throws {
        try file.write(try JSONEncoder().encode(cursor))
    }
}

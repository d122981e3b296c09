import ArgumentParser
import Foundation

/// `fmdata mcp`: the commands as tools of an assistant, by the Model Context Protocol.
struct AssistantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract: "Lets an assistant look at a database, by the Model Context Protocol.",
        discussion: """
            The assistant's program starts it, and speaks to it over standard input and output. Its tools are the commands \
            layouts, fields, find, get and explain, and with --write create and edit; it deletes nothing, runs no script and \
            reads no file of this machine. What it is asked is said on standard error, without values.

            Whatever a tool answers goes to the assistant, and maybe to its vendor: choose an account with no more privileges \
            than it needs. The limits hold a mistake small; they are no substitute for privileges.
            """
    )

    @Flag(help: "Offer create and edit as well.")
    var write = false

    @Option(
        help: ArgumentHelp("Offer this layout only. May be given several times.", valueName: "layout"),
        completion: .layouts
    )
    var layout: [String] = []

    @Option(parsing: .unconditional, help: ArgumentHelp("Answer with no more records at once.", valueName: "count"))
    var maxRecords = 50

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Answer with no more records in all, until it is started anew.", valueName: "count")
    )
    var totalRecords = 1_000

    @Option(parsing: .unconditional, help: ArgumentHelp("Answer with no more text at once.", valueName: "bytes"))
    var maxBytes = 200_000

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions

    func validate() throws {
        if connection.passwordStdin {
            throw ValidationError("The assistant speaks on standard input, so --password-stdin has no password there.")
        }
        guard maxRecords > 0, totalRecords > 0, maxBytes > 0 else {
            throw ValidationError("--max-records, --total-records and --max-bytes take 1 or more.")
        }
    }

    func run() async throws {
        let limits = AssistantLimits(
            layouts: layout.isEmpty ? nil : Set(layout),
            records: maxRecords,
            totalRecords: totalRecords,
            bytes: maxBytes
        )
        let tools = try AssistantTools(isWriting: write, limits: limits)
        try await HostVisit.make(with: connection, talk, showsProgress: false) { visit in
            // What is wrong with the place is said at once, and not to the assistant.
            _ = try await visit.open()
            try await AssistantServer(tools, visit).serve(InputLines(maximumLength: 4 << 20).lines)
        }
    }
}

/// What an assistant gets at most.
struct AssistantLimits: Equatable, Sendable {
    /// The layouts that it sees; nil for all that the account sees.
    var layouts: Set<String>?
    var records: Int
    var totalRecords: Int
    var bytes: Int
}

/// The lines of standard input, which a thread of its own reads.
private struct InputLines {
    let lines: AsyncStream<AssistantServer.Line>

    /// - Parameter maximumLength: the bytes of the longest line that is read.
    init(maximumLength: Int) {
        let (lines, continuation) = AsyncStream<AssistantServer.Line>.makeStream()
        self.lines = lines
        Thread.detachNewThread {
            var line = Data()
            var isTooLong = false
            func end() {
                if isTooLong {
                    continuation.yield(.tooLong)
                } else if line.contains(where: { !" \t\r".utf8.contains($0) }) {
                    continuation.yield(.text(line))
                }
                (line, isTooLong) = (Data(), false)
            }
            while case let bytes = FileHandle.standardInput.availableData, !bytes.isEmpty {
                let parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                for (index, part) in parts.enumerated() {
                    if index > 0 { end() }
                    isTooLong = isTooLong || line.count + part.count > maximumLength
                    if isTooLong { line = Data() } else { line += part }
                }
            }
            end()
            continuation.finish()
        }
    }
}

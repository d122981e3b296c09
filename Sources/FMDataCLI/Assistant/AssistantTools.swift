import ArgumentParser
import FMData
import FMSandbox
import Foundation

/// A command as a tool of an assistant. Its texts are those of the command's help.
struct AssistantTool: Sendable {
    typealias Argument = AssistantArguments.CodingKeys

    let name: String
    var isWriting = false
    let required: [Argument]
    let optional: [Argument]
    /// What the protocol's list of tools says of it.
    let description: OutputValue
    /// Runs the command.
    let run: @Sendable (AssistantArguments) async throws -> Void

    var readsRecords: Bool { !isWriting && (optional.contains(.limit) || required.contains(.recordId)) }
}

/// The tools that an assistant has, and what it has used of its limits.
actor AssistantTools {
    /// The answer of a tool, and what is said of it on standard error.
    struct Answer: Sendable {
        var value: OutputValue
        var remark: String
    }

    nonisolated let all: [AssistantTool]
    private nonisolated let limits: AssistantLimits
    private var recordsLeft: Int

    init(isWriting: Bool, limits: AssistantLimits) throws {
        self.limits = limits
        recordsLeft = limits.totalRecords
        let help = try CommandHelp(of: FMDataCommand.self)
        let tools = try Self.looking(help) + (isWriting ? Self.writing(help) : [])
        all = tools
    }

    nonisolated var instructions: String {
        """
        Claris FileMaker, by the Data API. Begin with layouts, then fields of a layout: names are exact. An answer has at most \
        \(limits.records) records, and all answers \(limits.totalRecords), so ask for what you need by conditions. Dates are \
        written as 2026-11-01.
        """
    }

    nonisolated func named(_ name: String) throws(AssistantError) -> AssistantTool {
        if let tool = all.first(where: { $0.name == name }) { return tool }
        let names = all.map(\.name)
        let advice =
            names.nearest(to: name).map { "Did you mean \"\($0)\"?" } ?? "There are: \(names.joined(separator: ", "))."
        throw .invalidParameters("There is no tool \"\(name)\". \(advice)")
    }

    // MARK: Calls

    /// Calls a tool. Whatever goes wrong is its answer: the assistant may do better with it.
    func answer(of tool: AssistantTool, _ arguments: AssistantArguments, _ visit: HostVisit) async -> Answer {
        let streams = CommandStreams(input: Data((arguments.values.map(Self.json) ?? "").utf8))
        do {
            let arguments = try allowed(arguments, for: tool)
            try await CommandStreams.$captured.withValue(streams) {
                try await HostVisit.$current.withValue(visit) { try await tool.run(arguments) }
            }
            let text = try shown(streams, tool)
            let count = streams.rowCount
            let remark = tool.readsRecords ? "\(count) \(count == 1 ? "record" : "records")" : "done"
            return Answer(value: Self.value(text, isError: false), remark: remark)
        } catch {
            let failure = CommandFailure(error)
            return Answer(
                value: Self.value(failure.json ?? "The call was cancelled.", isError: true),
                remark: "failed, status \(failure.status.rawValue)"
            )
        }
    }

    /// The arguments within the limits. Throws if the tool does not take them.
    private func allowed(_ given: AssistantArguments, for tool: AssistantTool) throws -> AssistantArguments {
        if let mistake = given.mistake { throw ValidationError("\(tool.name): \(mistake)") }
        var arguments = given
        let known = (tool.required + tool.optional).map(\.rawValue)
        for name in given.unknown + given.given.map(\.rawValue) where !known.contains(name) {
            let advice = known.nearest(to: name).map { " Did you mean \"\($0)\"?" } ?? ""
            throw ValidationError("\(tool.name) has no argument \"\(name)\".\(advice)")
        }
        for argument in tool.required where !given.given.contains(argument) {
            throw ValidationError("\(tool.name) needs the argument \(argument.rawValue).")
        }
        if let layouts = limits.layouts, let layout = given.layout, !layouts.contains(layout) {
            throw CommandError("The layout \"\(layout)\" is not among those that are offered here.", .refused)
        }
        for word in given.conditions ?? [] where word.hasPrefix("--") && word != "--or" && word != "--omit" {
            throw ValidationError("\"\(word)\" is no condition.")
        }
        guard !tool.readsRecords || recordsLeft > 0 else {
            throw CommandError(
                "\(limits.totalRecords) records were answered, and no more are: whoever has started fmdata mcp may start "
                    + "it anew, or with --total-records.",
                .refused
            )
        }
        if tool.optional.contains(.limit) {
            arguments.limit = min(given.limit ?? 20, limits.records, recordsLeft)
        }
        return arguments
    }

    /// What a tool has printed, within the limits.
    private func shown(_ streams: CommandStreams, _ tool: AssistantTool) throws -> String {
        if tool.readsRecords { recordsLeft -= streams.rowCount }
        var text = streams.text
        if let layouts = limits.layouts, tool.name == "layouts" {
            let lines = text.split(separator: "\n").filter { line in
                layouts.contains { line.hasPrefix(#"{"layout":\#(OutputValue.text($0).json),"#) }
            }
            text = lines.map { $0 + "\n" }.joined()
        }
        guard text.utf8.count <= limits.bytes else {
            throw CommandError(
                "The answer has more than \(limits.bytes) bytes: choose some fields, or fewer records.",
                .refused
            )
        }
        return text + streams.remarks.map { $0 + "\n" }.joined()
    }

    private static func value(_ text: String, isError: Bool) -> OutputValue {
        ["content": .list([["type": "text", "text": .text(text)]]), "isError": .bool(isError)]
    }

    private static func json(_ values: FieldData) -> String {
        OutputValue.object(values.map { .init(name: $0, value: OutputValue($1)) }).json
    }
}

// MARK: - The tools

extension AssistantTools {
    private static func looking(_ help: CommandHelp) throws -> [AssistantTool] {
        let find: [AssistantTool.Argument] = [.conditions, .raw]
        return [
            try tool("layouts", of: "layouts", help, []) { _ in
                let command = try LayoutsCommand.parse(["--ndjson"])
                try await command.run()
            },
            try tool(
                "fields",
                of: "fields",
                help,
                [.layout],
                more: "Those in portals follow, each with its portal."
            ) { arguments in
                var fields = try FieldsCommand.parse(["", "--ndjson"])
                fields.layout = try arguments.known(\.layout)
                try await fields.run()
                var portals = try PortalsCommand.parse(["", "--ndjson"])
                portals.layout = fields.layout
                try await portals.run()
            },
            try tool(
                "find",
                of: "find",
                help,
                [.layout],
                find + [.sort, .fields, .portals, .limit],
                more: "20 records without a limit."
            ) { arguments in
                var command = try FindCommand.parse(["", "--ndjson"])
                try arguments.fill(&command)
                try command.validate()
                try await command.run()
            },
            try tool("get", of: "get", help, [.layout, .recordId], [.fields, .portals]) { arguments in
                var command = try GetCommand.parse(["", "1", "--ndjson"])
                command.layout = try arguments.known(\.layout)
                command.recordId = try arguments.known(\.recordId)
                arguments.fill(&command.parts)
                try await command.run()
            },
            try tool("explain", of: "find", option: "--explain", help, [.layout], find) { arguments in
                var command = try FindCommand.parse(["", "--explain"])
                try arguments.fill(&command)
                try await command.run()
            },
        ]
    }

    private static func writing(_ help: CommandHelp) throws -> [AssistantTool] {
        [
            try tool("create", of: "create", help, [.layout, .values], isWriting: true) { arguments in
                var command = try CreateCommand.parse(["", "-", "--ndjson"])
                command.layout = try arguments.known(\.layout)
                try await command.run()
            },
            try tool("edit", of: "edit", help, [.layout, .recordId, .values], [.modId], isWriting: true) { arguments in
                var command = try EditCommand.parse(["", "1", "-", "--ndjson"])
                command.layout = try arguments.known(\.layout)
                command.recordId = try arguments.known(\.recordId)
                command.modId = arguments.modId
                try await command.run()
            },
        ]
    }

    /// - Parameters:
    ///   - option: The option that makes another tool of the command; nil if the command itself is the tool.
    ///   - more: What an assistant is told beside the help of the command.
    private static func tool(
        _ name: String,
        of command: String,
        option: String? = nil,
        _ help: CommandHelp,
        _ required: [AssistantTool.Argument],
        _ optional: [AssistantTool.Argument] = [],
        isWriting: Bool = false,
        more: String? = nil,
        run: @escaping @Sendable (AssistantArguments) async throws -> Void
    ) throws -> AssistantTool {
        guard let help = help.subcommands.first(where: { $0.commandName == command }) else {
            throw CommandError("There is no command \(command).")
        }
        let text = option.map { help.argument($0)?.abstract } ?? help.abstract
        let properties = try (required + optional).map { argument in
            OutputValue.Member(name: argument.rawValue, value: try argument.schema(help))
        }
        return AssistantTool(
            name: name,
            isWriting: isWriting,
            required: required,
            optional: optional,
            description: [
                "name": .text(name),
                "description": .text([text, more].compactMap(\.self).joined(separator: " ")),
                "inputSchema": [
                    "type": "object", "properties": .object(properties),
                    "required": .texts(required.map(\.rawValue)), "additionalProperties": .bool(false),
                ],
                "annotations": [
                    "readOnlyHint": .bool(!isWriting), "destructiveHint": .bool(name == "edit"),
                    "openWorldHint": .bool(false),
                ],
            ],
            run: run
        )
    }
}

extension AssistantArguments.CodingKeys {
    /// The name of the argument in the help of a command.
    private var nameInHelp: String {
        switch self {
        case .layout: "layout"
        case .recordId: "record-id"
        case .conditions: "condition"
        case .values: "field=value"
        case .modId: "--mod-id"
        case .raw, .sort, .fields, .portals, .limit: "--\(rawValue)"
        }
    }

    /// The JSON schema of the argument, with the words of the command's help.
    fileprivate func schema(_ help: CommandHelp) throws -> OutputValue {
        guard let argument = help.argument(nameInHelp) else {
            throw CommandError("\(help.commandName) has no argument \(nameInHelp).")
        }
        let text: String =
            switch self {
            case .values:
                "The values of fields: texts or numbers by the names of the fields. Dates are written as 2026-11-01."
            default: [argument.abstract, argument.discussion].compactMap(\.self).joined(separator: "\n")
            }
        let description = OutputValue.text(text)
        switch self {
        case .layout: return ["type": "string", "description": description]
        case .recordId, .modId: return ["type": "integer", "description": description]
        case .limit: return ["type": "integer", "minimum": .int(1), "description": description]
        case .raw: return ["type": "boolean", "description": description]
        case .conditions, .sort, .fields, .portals:
            return ["type": "array", "items": ["type": "string"], "description": description]
        case .values:
            return [
                "type": "object", "additionalProperties": ["type": .texts(["string", "number"])],
                "description": description,
            ]
        }
    }
}

extension AssistantArguments {
    /// An argument that the tool requires.
    fileprivate func known<Value>(_ argument: KeyPath<AssistantArguments, Value?>) throws -> Value {
        guard let value = self[keyPath: argument] else { throw ValidationError("An argument is missing.") }
        return value
    }

    fileprivate func fill(_ command: inout FindCommand) throws {
        command.found.layout = try known(\.layout)
        command.found.conditions = conditions ?? []
        command.found.raw = raw ?? false
        command.found.sort = sort ?? []
        command.limit = limit
        fill(&command.parts)
    }

    fileprivate func fill(_ parts: inout RecordOptions) {
        parts.fields = fields ?? []
        parts.portals = portals ?? []
    }
}

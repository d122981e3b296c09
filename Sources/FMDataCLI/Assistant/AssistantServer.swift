import FMData
import Foundation

/// The conversation with an assistant: JSON-RPC, a message per line. Tools are called one after the other, as the
/// session on the host would answer them anyway; everything else is answered at once.
actor AssistantServer {
    /// A line of the assistant.
    enum Line: Sendable {
        case text(Data)
        /// A line that is longer than any sensible message.
        case tooLong
    }

    /// The versions of the protocol that are spoken, the newest first.
    static let versions = ["2025-06-18", "2025-03-26", "2024-11-05"]

    private let tools: AssistantTools
    private let visit: HostVisit
    private let output = StandardOutput()
    private var calls: [FieldValue: Task<Void, Never>] = [:]
    private var lastCall: Task<Void, Never>?
    /// Why nothing can be answered any more.
    private var failure: (any Error)?

    init(_ tools: AssistantTools, _ visit: HostVisit) {
        self.tools = tools
        self.visit = visit
    }

    /// Answers until there are no more lines.
    func serve(_ lines: AsyncStream<Line>) async throws {
        for await line in lines {
            if let failure { throw failure }
            switch line {
            case .text(let text): take(text)
            case .tooLong: answer(nil, with: .invalidRequest)
            }
        }
        if Task.isCancelled { for call in calls.values { call.cancel() } }
        await lastCall?.value
        if let failure { throw failure }
        try Task.checkCancellation()
    }

    private func take(_ line: Data) {
        do {
            let message = try AssistantMessage(line)
            guard let id = message.id else { return notice(message) }
            do {
                if let result = try result(of: message, id) { answer(id, ["result": result]) }
            } catch {
                answer(id, with: error)
            }
        } catch {
            // A client waits for the answer with the id of its request, whatever else is wrong with that.
            answer(AssistantMessage.id(of: line), with: error)
        }
    }

    private func notice(_ message: AssistantMessage) {
        guard message.method == "notifications/cancelled", let id = message.parameters?.requestId else { return }
        // Nobody waits for the answer of a call that is cancelled.
        calls.removeValue(forKey: id)?.cancel()
    }

    /// The result of a request; nil if it follows later.
    private func result(of message: AssistantMessage, _ id: FieldValue) throws(AssistantError) -> OutputValue? {
        switch message.method {
        case "initialize": return hello(to: message.parameters)
        case "ping": return [:]
        case "tools/list": return ["tools": .list(tools.all.map(\.description))]
        case "tools/call":
            guard let name = message.parameters?.name else {
                throw .invalidParameters("The name of the tool is missing.")
            }
            call(try tools.named(name), message.parameters?.arguments ?? AssistantArguments(), id)
            return nil
        default: throw .unknownMethod(message.method)
        }
    }

    private func hello(to parameters: AssistantMessage.Parameters?) -> OutputValue {
        let client = parameters?.clientInfo
        let name = [client?.name, client?.version].compactMap(\.self).joined(separator: " ")
        note("Connected: \(name.isEmpty ? "an assistant" : name.visible)")
        let version = Self.versions.first { $0 == parameters?.protocolVersion } ?? Self.versions[0]
        return [
            "protocolVersion": .text(version),
            "capabilities": ["tools": [:]],
            "serverInfo": ["name": "fmdata", "title": "Claris FileMaker", "version": .text(FMDataCommand.version)],
            "instructions": .text(tools.instructions),
        ]
    }

    private func call(_ tool: AssistantTool, _ arguments: AssistantArguments, _ id: FieldValue) {
        let previous = lastCall
        let call = Task {
            await previous?.value
            if Task.isCancelled { return }
            let result = await tools.answer(of: tool, arguments, visit)
            note("\(tool.name)\(arguments.inWords): \(result.remark)")
            if calls.removeValue(forKey: id) != nil { answer(id, ["result": result.value]) }
        }
        calls[id] = call
        lastCall = call
    }

    private func answer(_ id: FieldValue?, with error: AssistantError) {
        answer(id, ["error": ["code": .int(error.code), "message": .text(error.message)]])
    }

    private func answer(_ id: FieldValue?, _ content: OutputValue) {
        guard case .object(let members) = content else { return }
        let envelope: [OutputValue.Member] = [
            .init(name: "jsonrpc", value: "2.0"), .init(name: "id", value: id.map { OutputValue($0) } ?? .null),
        ]
        do {
            try output.writeLine(OutputValue.object(envelope + members).json)
            try output.flush()
        } catch {
            failure = error
            for call in calls.values { call.cancel() }
        }
    }
}

extension AssistantArguments {
    /// What is asked, without values.
    fileprivate var inWords: String {
        let names = (conditions ?? []).compactMap { condition in
            condition.firstIndex { "=<>!*^$~".contains($0) }.map { String(condition[..<$0]) }
        }
        let parts = [
            layout.map { " \"\($0.visible)\"" }, recordId.map { " record \($0)" },
            names.isEmpty ? nil : " by \(names.joined(separator: ", ").visible)",
            values.map { " setting \($0.names.joined(separator: ", ").visible)" },
        ]
        return parts.compactMap(\.self).joined()
    }
}

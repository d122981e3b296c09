import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// The article about the command: every line of it is run, and prints what the article says.
@Suite(.timeLimit(.minutes(15))) struct DoctorArticleTests {
    private static let article: String = {
        let file = Committed.root.appendingPathComponent("Sources/FMData/Documentation.docc/Doctor.md")
        return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    }()

    /// The blocks between fences: `sh` has commands, the others what the last of them prints.
    private static let blocks: [(isCommands: Bool, text: String)] =
        article.matches(of: #/(?ms)^```(sh)?\n(.*?)^```$/#).map { ($0.1 != nil, String($0.2)) }

    /// Without numbers that differ from run to run, from port to port and from version to version.
    private func withoutNumbers(_ text: String, port: Int) -> String {
        text.replacing("\(port)", with: "8443").replacing(#/\b[0-9]+ (ms|s|days)\b/#) { "N \($0.1)" }
            .replacing(#/doctor [0-9.]+:/#, with: "doctor VERSION:")
    }

    /// A line of a shell: variables, and the command that they are for.
    private struct Line {
        var variables: [String: String] = [:]
        /// Empty for `export`.
        var command: [String]

        init(_ text: Substring, port: Int, authority: String) {
            command = text.split(separator: " ").map(String.init)
                .map { $0.replacing("8443", with: "\(port)").replacing("ca.pem", with: authority) }
            if command.first == "export" { command.removeFirst() }
            while let word = command.first, let equals = word.firstIndex(of: "=") {
                variables[String(word[..<equals])] = String(word[word.index(after: equals)...])
                command.removeFirst()
            }
        }
    }

    @Test(.thorough) func everyLineIsRunAndPrintsWhatItSays() async throws {
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.tls = true
                $0.keepAlive = .seconds(600)
            }
        )
        let authority = try #require(sandbox.certificateAuthorityFile)
        var environment: [String: String] = [:]
        var outputs: [String] = []
        for block in Self.blocks {
            guard block.isCommands else {
                let (found, shown) = (outputs.last ?? "", block.text)
                expectNoDifference(
                    withoutNumbers(found, port: sandbox.port),
                    withoutNumbers(shown, port: sandbox.port)
                )
                continue
            }
            for text in block.text.split(separator: "\n") where text != "fmdata sandbox --tls --port 8443" {
                let line = Line(text, port: sandbox.port, authority: authority)
                if line.command.isEmpty {
                    environment.merge(line.variables) { $1 }
                    continue
                }
                expectNoDifference(line.command.first, "fmdata")
                let finished = try await FinishedProgram.run(
                    line.command.dropFirst() + Examination.patience,
                    environment: environment.merging(line.variables) { $1 }
                )
                expectNoDifference(finished.errors, "")
                outputs.append(finished.output)
            }
        }
        expectNoDifference(outputs.count, 3)
        await sandbox.stop()
    }

    @Test func everyCheckHasARow() {
        let rows = Self.article.matches(of: #/(?m)^\| `([a-z]+)` \|/#).compactMap {
            DoctorCheck.Name(rawValue: String($0.1))
        }
        expectNoDifference(rows, DoctorCheck.Name.allCases)
    }
}

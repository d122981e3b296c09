import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// `fmdata mcp`: a conversation with the built program, from hello to the end of standard input.
@Suite(.timeLimit(.minutes(15))) struct AssistantTests {
    /// What the program has answered, and how it ended.
    private struct Conversation {
        var answers: [Answer]
        var program: FinishedProgram

        /// The answer to the request with this id.
        subscript(id: FieldValue) -> Answer {
            get throws { try #require(answers.first { $0.id == id }, "\(program)") }
        }
    }

    private struct Answer: Decodable {
        struct Result: Decodable {
            struct Content: Decodable {
                var type: String
                var text: String
            }

            struct Tool: Decodable, Equatable {
                struct Annotations: Decodable, Equatable {
                    var readOnlyHint: Bool
                    var destructiveHint: Bool
                }

                struct Schema: Decodable, Equatable {
                    struct Property: Decodable, Equatable {
                        var type: String
                        var description: String
                    }

                    var type: String
                    var properties: [String: Property]
                    var required: [String]
                    var additionalProperties: Bool
                }

                var name: String
                var description: String
                var inputSchema: Schema
                var annotations: Annotations
            }

            var protocolVersion: String?
            var content: [Content]?
            var isError: Bool?
            var tools: [Tool]?
        }

        struct Failure: Decodable {
            var code: Int
            var message: String
        }

        var id: FieldValue?
        var jsonrpc: String
        var result: Result?
        var error: Failure?

        /// What a tool has answered.
        var text: String { result?.content?.map(\.text).joined() ?? "" }
    }

    private func talk(_ home: Home, with options: [String] = [], _ lines: [String]) async throws -> Conversation {
        let program = try await FinishedProgram.run(
            ["mcp"] + options,
            environment: ["HOME": home.folder.path].merging(home.asAdmin.environment) { $1 },
            input: lines.map { $0 + "\n" }.joined()
        )
        let answers = try program.output.split(separator: "\n").map { line in
            try FMDecoder().decode(Answer.self, from: Data(line.utf8))
        }
        #expect(answers.allSatisfy { $0.jsonrpc == "2.0" })
        #expect(!(program.output + program.errors).contains("secret"))
        return Conversation(answers: answers, program: program)
    }

    private func call(_ id: Int, _ tool: String, _ arguments: String = "{}") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
    }

    // MARK: Protocol

    @Test(
        .thorough,
        arguments: [("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-06-18")]
    )
    func hello(_ asked: String, _ version: String) async throws {
        try await Home.with { home in
            let talk = try await talk(
                home,
                [
                    #"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"\#(asked)","#
                        + #""capabilities":{},"clientInfo":{"name":"Test","version":"1"}}}"#,
                    #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                    #"{"jsonrpc":"2.0","id":"b","method":"ping"}"#,
                ]
            )
            expectNoDifference(try talk["a"].result?.protocolVersion, version)
            expectNoDifference(talk.answers.map(\.id), ["a", "b"])
            expectNoDifference(talk.program.status, 0)
            expectNoDifference(talk.program.errors, "Connected: Test 1\n")
            #expect(home.sandbox.counters.logins == 0, "nobody has asked for anything yet")
        }
    }

    @Test(.thorough) func whatIsNoRequestIsAnError() async throws {
        try await Home.with { home in
            let talk = try await talk(
                home,
                [
                    "nonsense", "[]", #"{"id":1}"#, #"{"id":2,"method":"resources/list"}"#,
                    #"{"id":3,"method":"tools/call","params":{"name":"delete"}}"#,
                    #"{"id":4,"method":"tools/call","params":{"name":"fnid"}}"#,
                    #"{"id":5,"method":"tools/call","params":{"name":7}}"#,
                    #"{"id":"6","method":"tools/call","params":[]}"#, #"{"id":7,"method":"initialize","params":"x"}"#,
                    String(repeating: "x", count: 5 << 20), #"{"id":8,"method":"ping"}"#,
                ]
            )
            expectNoDifference(
                talk.answers.map { $0.error?.code },
                [-32_700, -32_600, -32_600, -32_601, -32_602, -32_602, -32_600, -32_600, -32_600, -32_600, nil]
            )
            // A client waits for the answer with the id of its request.
            expectNoDifference(talk.answers.map(\.id), [nil, nil, 1, 2, 3, 4, 5, "6", 7, nil, 8])
            #expect(try talk[4].error?.message.hasSuffix("Did you mean \"find\"?") == true)
            expectNoDifference(talk.program.status, 0)
        }
    }

    /// A cancelled call has no answer, and the next one is made.
    @Test func aCallIsCancelled() async throws {
        try await Home.with { home in
            home.sandbox.inject(.holdAnswer, on: .layouts)
            let talk = try await talk(
                home,
                [
                    call(1, "layouts"),
                    #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
                    call(2, "fields", #"{"layout":"Phones"}"#),
                ]
            )
            expectNoDifference(talk.answers.map(\.id), [2])
            expectNoDifference(talk.program.status, 0)
            home.sandbox.releaseAnswers()
        }
    }

    // MARK: Tools

    @Test(.thorough) func toolsAreTheCommands() async throws {
        try await Home.with { home in
            let list = #"{"id":1,"method":"tools/list"}"#
            let offered = try await talk(home, [list])[1].result?.tools
            let looking = try #require(offered)
            expectNoDifference(looking.map(\.name), ["layouts", "fields", "find", "get", "explain"])
            expectNoDifference(looking.filter { !$0.annotations.readOnlyHint }.map(\.name), [])
            let offeredForWriting = try await talk(home, with: ["--write"], [list])[1].result?.tools
            let all = try #require(offeredForWriting)
            expectNoDifference(all.map(\.name), looking.map(\.name) + ["create", "edit"])
            expectNoDifference(all.filter { !$0.annotations.readOnlyHint }.map(\.name), ["create", "edit"])
            let help = try CommandHelp(of: FMDataCommand.self)
            let find = try #require(help.subcommands.first { $0.commandName == "find" })
            let tool = try #require(looking.first { $0.name == "find" })
            let abstract = try #require(find.abstract)
            #expect(tool.description.hasPrefix(abstract))
            expectNoDifference(tool.inputSchema.properties["sort"]?.description, find.argument("--sort")?.abstract)
            expectNoDifference(tool.inputSchema.required, ["layout"])
            #expect(!tool.inputSchema.additionalProperties)
        }
    }

    @Test(.thorough) func looking() async throws {
        try await Home.with { home in
            let talk = try await talk(
                home,
                [
                    call(1, "layouts"), call(2, "fields", #"{"layout":"Contacts"}"#),
                    call(
                        3,
                        "find",
                        #"{"layout":"Contacts","conditions":["City=Paris","--or","City=London"],"fields":["Name"],"sort":["-Name"]}"#
                    ),
                    call(4, "get", #"{"layout":"Contacts","recordId":3,"fields":["Name"],"portals":["Phones"]}"#),
                    call(5, "explain", #"{"layout":"Contacts","conditions":["City=Cal*"]}"#),
                    call(6, "find", #"{"layout":"Countries","fields":["Code"],"limit":2}"#),
                ]
            )
            #expect(try talk[1].text.hasPrefix(#"{"layout":"Countries","table":"Country","folder":[]}"# + "\n"))
            let fields = try talk[2].text.split(separator: "\n")
            #expect(fields.contains { $0.hasPrefix(#"{"field":"Name","#) })
            #expect(fields.contains { $0.hasPrefix(#"{"portal":"Phones","field":"Phones::Number","#) })
            expectNoDifference(
                try talk[3].text,
                """
                {"recordId":2,"modId":0,"fieldData":{"Name":"Émilie du Châtelet"}}
                {"recordId":1,"modId":0,"fieldData":{"Name":"Ada Lovelace"}}

                """
            )
            #expect(
                try talk[4].text.contains(#""portalData":{"Phones":[{"recordId":3,"modId":0,"Phones::Kind":"mobile""#)
            )
            #expect(try talk[5].text.contains(#"==Cal\\*"#))
            #expect(try talk[6].text.hasSuffix("\n2 of 249 records.\n"))
            expectNoDifference(talk.answers.map { $0.result?.isError }, Array(repeating: false, count: 6))
            expectNoDifference(
                talk.program.errors,
                """
                layouts: done
                fields "Contacts": done
                find "Contacts" by City, City: 2 records
                get "Contacts" record 3: 1 record
                explain "Contacts" by City: done
                find "Countries": 2 records

                """
            )
            expectNoDifference(home.sandbox.counters.logins, 1)
            expectNoDifference(home.sandbox.counters.openSessions, 0)
        }
    }

    @Test(.thorough) func writing() async throws {
        try await Home.with { home in
            let talk = try await talk(
                home,
                with: ["--write"],
                [
                    call(
                        1,
                        "create",
                        #"{"layout":"Contacts","values":{"Name":"@/etc/hostname","Birthday":"1797-08-30"}}"#
                    ),
                    call(2, "edit", #"{"layout":"Contacts","recordId":4,"values":{"Balance":12.50},"modId":0}"#),
                    call(3, "edit", #"{"layout":"Contacts","recordId":4,"values":{"City":"Bath"},"modId":0}"#),
                    call(4, "edit", #"{"layout":"Contacts","recordId":4,"values":{"Status":"activ"}}"#),
                ]
            )
            expectNoDifference(try talk[1].text, "{\"recordId\":4,\"modId\":0}\n")
            expectNoDifference(try talk[2].text, "{\"recordId\":4,\"modId\":1}\n")
            expectNoDifference(try talk[3].result?.isError, true)
            #expect(try talk[3].text.contains(#""code":306"#))
            expectNoDifference(try talk[4].result?.isError, true)
            let record = home.sandbox.records(ofTable: "Contacts", inDatabase: "World")?.first { $0.recordId == 4 }
            expectNoDifference(record?.values["Name"], "@/etc/hostname", "a file of this machine is not read")
            expectNoDifference(record?.values["Birthday"], "08/30/1797")
            expectNoDifference(record?.values["Balance"], "12.50")
            #expect(talk.program.errors.contains("edit \"Contacts\" record 4 setting City: failed, status 6\n"))
        }
        // Without the option nothing is written.
        try await Home.with { home in
            let talk = try await talk(home, [call(1, "create", #"{"layout":"Contacts","values":{"Name":"x"}}"#)])
            expectNoDifference(try talk[1].error?.code, -32_602)
            expectNoDifference(home.sandbox.counters.executedWrites, 0)
        }
    }

    // MARK: Limits

    @Test func noMoreRecordsThanAllowed() async throws {
        try await Home.with { home in
            let find = #"{"layout":"Countries","fields":["Code"],"limit":1000}"#
            let talk = try await talk(
                home,
                with: ["--max-records", "3", "--total-records", "5"],
                [call(1, "find", find), call(2, "find", find), call(3, "find", find)]
                    + [call(4, "get", #"{"layout":"Countries","recordId":1}"#), call(5, "layouts")]
            )
            func records(_ id: Int) throws -> Int {
                try talk[FieldValue(id)].text.split(separator: "\n").count { $0.hasPrefix("{\"recordId\"") }
            }
            expectNoDifference(try (1...2).map(records), [3, 2])
            for id in [3, 4] as [FieldValue] {
                #expect(try talk[id].result?.isError == true)
                #expect(try talk[id].text.contains("5 records were answered, and no more are"))
            }
            #expect(try talk[5].result?.isError == false)
        }
    }

    @Test func otherLayoutsAndLongAnswersAreRefused() async throws {
        try await Home.with { home in
            let talk = try await talk(
                home,
                with: ["--layout", "Phones", "--layout", "Zones", "--max-bytes", "200"],
                [
                    call(1, "layouts"), call(2, "find", #"{"layout":"Contacts"}"#),
                    call(3, "find", #"{"layout":"Zones"}"#),
                    call(4, "find", #"{"layout":"Phones","fields":["Kind"],"limit":1}"#),
                ]
            )
            expectNoDifference(
                try talk[1].text,
                #"{"layout":"Zones","table":"Zones","folder":[]}"# + "\n"
                    + #"{"layout":"Phones","table":"Phones","folder":[]}"# + "\n"
            )
            #expect(try talk[2].text.contains("is not among those that are offered here."))
            #expect(try talk[3].text.contains("The answer has more than 200 bytes"))
            #expect(try talk[4].result?.isError == false)
        }
    }

    // MARK: Mistakes

    @Test func whatIsWrongIsTheAnswer() async throws {
        try await Home.with { home in
            let wrong = [
                (#"{"layout":"Contatcs"}"#, #"Did you mean \"Contacts\"?"#),
                (#"{"layout":"Contacts","conditions":["Ctiy=x"]}"#, #"Did you mean \"City\"?"#),
                (#"{"layout":"Contacts","conditions":["--host","evil.example"]}"#, #"\"--host\" is no condition."#),
                (#"{"layout":"Contacts","recordId":1}"#, #"find has no argument \"recordId\"."#),
                (#"{"layout":"Contacts","condition":["City=x"]}"#, #"Did you mean \"conditions\"?"#),
                ("{}", "find needs the argument layout."),
                (#"{"layout":"Contacts","limit":0}"#, "--limit and --offset take 1 or more."),
            ]
            let lines = wrong.enumerated().map { call($0.offset, "find", $0.element.0) }
            let talk = try await talk(home, lines)
            for (id, (arguments, text)) in wrong.enumerated() {
                let answer = try talk[FieldValue(id)]
                #expect(answer.result?.isError == true, "\(arguments)")
                #expect(answer.text.contains(text), "\(arguments): \(answer.text)")
            }
            #expect(!talk.program.errors.contains("evil"))
        }
    }

    /// A client waits for the answer to its request, whatever was wrong with that.
    @Test func anArgumentOfTheWrongTypeIsNamed() async throws {
        try await Home.with { home in
            let wrong = [
                ("find", #"{"layout":["Contacts"]}"#, "layout takes a text."),
                ("get", #"{"layout":"Contacts","recordId":"first"}"#, "recordId takes a whole number."),
                ("get", #"{"layout":"Contacts","recordId":1.5}"#, "recordId takes a whole number."),
                ("find", #"{"layout":"Contacts","limit":{}}"#, "limit takes a whole number."),
                ("find", #"{"layout":"Contacts","conditions":"City=Paris"}"#, "conditions takes a list of texts."),
                ("find", #"{"layout":"Contacts","fields":[["Name"]]}"#, "fields takes a list of texts."),
                ("find", #"{"layout":"Contacts","raw":"perhaps"}"#, "raw takes true or false."),
                (
                    "edit", #"{"layout":"Contacts","recordId":1,"values":["x"]}"#,
                    "values takes an object of texts and numbers."
                ),
                ("find", #"[]"#, "arguments takes an object."),
            ]
            let lines = wrong.enumerated().map { call($0.offset, $0.element.0, $0.element.1) }
            let talk = try await talk(home, with: ["--write"], lines)
            for (id, (tool, arguments, text)) in wrong.enumerated() {
                let answer = try talk[FieldValue(id)]
                #expect(answer.result?.isError == true, "\(arguments)")
                #expect(answer.text.contains(text), "\(tool) \(arguments): \(answer.text)")
            }
            expectNoDifference(home.sandbox.counters.logins, 0)
        }
    }

    @Test func aTextThatIsANumberIsOne() async throws {
        try await Home.with { home in
            let talk = try await talk(
                home,
                with: ["--write"],
                [
                    call(1, "get", #"{"layout":"Contacts","recordId":"3","fields":["Name"]}"#),
                    call(2, "find", #"{"layout":"Contacts","fields":["Name"],"limit":"1"}"#),
                    call(3, "edit", #"{"layout":"Contacts","recordId":"1","values":{"City":"Bath"},"modId":"0"}"#),
                ]
            )
            #expect(try talk[1].text.contains("Grace Hopper"))
            #expect(try talk[2].text.hasPrefix(#"{"recordId":1,"#))
            expectNoDifference(try talk[3].text, "{\"recordId\":1,\"modId\":1}\n")
        }
    }

    @Test func aWrongPlaceIsSaidAtOnce() async throws {
        try await Home.with { home in
            let nowhere = try await home.fmdata("mcp")
            #expect(nowhere.status == 64)
            #expect(nowhere.errors.hasPrefix("Error: Which host?"))
            let input = try await home.asAdmin.fmdata("mcp", "--password-stdin")
            #expect(input.status == 64)
            #expect(input.errors.contains("so --password-stdin has no password there."))
        }
    }
}

import CustomDump
import Testing

@testable import FMSandbox

/// A record against what a real server sent.
@Suite(.timeLimit(.minutes(15))) struct RecordedRecordTests {
    /// A solution after the one whose answer was recorded from FileMaker Server 2024 in March 2025.
    private static let forms: Solution = {
        var solution = Solution(
            name: "MOD_FORMS_v3",
            tables: [
                .init(
                    name: "submission",
                    fields: [
                        .init("id", .number), .init("form_id", .number), .init("user_id", .number),
                        .init("completed", .number),
                        .init("date_completed", .timestamp),
                    ],
                    records: [
                        .init(recordId: 1, ["id": "7"]), .init(recordId: 3, ["id": "8"]),
                        .init(
                            recordId: 5,
                            modId: 115,
                            [
                                "id": "1", "form_id": "1", "user_id": "1", "completed": "1",
                                "date_completed": "03/11/2025 19:57:12",
                            ]
                        ),
                    ]
                ),
                .init(
                    name: "answer",
                    fields: [
                        .init("id", .number), .init("question_id", .number), .init("answer"),
                        .init("submission_id", .number),
                    ],
                    records: [
                        .init(
                            recordId: 161,
                            modId: 86,
                            ["id": "112", "question_id": "1", "answer": "Very Satisfied", "submission_id": "1"]
                        ),
                        .init(
                            recordId: 163,
                            modId: 85,
                            ["id": "114", "question_id": "3", "answer": "No coments 3", "submission_id": "1"]
                        ),
                    ]
                ),
                .init(
                    name: "question",
                    fields: [.init("id", .number), .init("title")],
                    records: [
                        .init(["id": "1", "title": "How satisfied are you with our service?"]),
                        .init(["id": "3", "title": "Any additional comments?"]),
                    ]
                ),
                .init(
                    name: "attachment",
                    fields: [.init("file_name"), .init("file_size", .number), .init("submission_id", .number)],
                    records: [
                        .init(
                            recordId: 48,
                            ["file_name": "FMS12_Backups.pdf", "file_size": "1519004", "submission_id": "1"]
                        )
                    ]
                ),
            ],
            occurrences: [.init(name: "answer_question", table: "question")],
            relationships: [
                .init("submission", "answer", matches: [.init("id", "submission_id")]),
                .init("answer", "answer_question", matches: [.init("question_id", "id")]),
                .init("submission", "attachment", matches: [.init("id", "submission_id")]),
            ]
        )
        solution.layouts = [
            .layout(
                .init(
                    name: "submission_api",
                    table: "submission",
                    fields: ["id", "form_id", "user_id", "completed", "date_completed"],
                    portals: [
                        .init(
                            table: "answer",
                            name: "answer",
                            fields: [
                                "answer::id", "answer::question_id", "answer::answer", "answer_question::title",
                                "answer::submission_id",
                            ]
                        ),
                        .init(
                            table: "attachment",
                            name: "attachment",
                            fields: ["attachment::file_name", "attachment::file_size", "attachment::submission_id"]
                        ),
                    ]
                )
            )
        ]
        solution.accounts = [.init(name: "admin", password: "secret")]
        return solution
    }()

    /// The recorded bytes, with the rows and fields that the solution above leaves out taken away.
    private static let recorded = #"""
        {"response":{"dataInfo":{"database":"MOD_FORMS_v3","layout":"submission_api","table":"submission",\#
        "totalRecordCount":3,"foundCount":1,"returnedCount":1},"data":[{"fieldData":{"id":1,"form_id":1,"user_id":1,\#
        "completed":1,"date_completed":"03/11/2025 19:57:12"},"portalData":{"answer":[{"recordId":"161","answer::id":112,\#
        "answer::question_id":1,"answer::answer":"Very Satisfied",\#
        "answer_question::title":"How satisfied are you with our service?","answer::submission_id":1,"modId":"86"},\#
        {"recordId":"163","answer::id":114,"answer::question_id":3,"answer::answer":"No coments 3",\#
        "answer_question::title":"Any additional comments?","answer::submission_id":1,"modId":"85"}],\#
        "attachment":[{"recordId":"48","attachment::file_name":"FMS12_Backups.pdf","attachment::file_size":1519004,\#
        "attachment::submission_id":1,"modId":"0"}]},"recordId":"5","modId":"115",\#
        "portalDataInfo":[{"portalObjectName":"answer","database":"MOD_FORMS_v3","table":"answer","foundCount":2,\#
        "returnedCount":2},{"portalObjectName":"attachment","database":"MOD_FORMS_v3","table":"attachment",\#
        "foundCount":1,"returnedCount":1}]}]},"messages":[{"code":"0","message":"OK"}]}
        """#

    @Test(.tags(.recorded), arguments: Venue.allCases)
    func aRecordAnswersByteForByteAsRecorded(_ venue: Venue) async throws {
        try await withBench(venue, [Self.forms]) { (bench: Bench) async throws in
            let record = try await bench.get("layouts/submission_api/records/5")
            expectNoDifference(record.text, Self.recorded)
            let found = try await bench.find("submission_api", [["user_id": "1"]])
            expectNoDifference(found.text, Self.recorded)
        }
    }

    @Test(.tags(.recorded)) func version17HasNoInfo() async throws {
        try await withBench(.inProcess, [Self.forms], configure: { $0.serverVersion = .v17 }) {
            (bench: Bench) async throws in
            let answer = try await bench.get("layouts/submission_api/records/5")
            #expect(answer.response.object?.keys == ["data"])
            #expect(answer.response["data"][0].object?.keys == ["fieldData", "portalData", "recordId", "modId"])
            #expect(answer.response["data"][0]["portalData"]["attachment"][0].object?.keys.last == "modId")
            let missing = [
                "/productInfo", "/databases", "/validateSession", "layouts", "scripts", "layouts/submission_api",
                "layouts/submission_api/script/x",
            ]
            for path in missing { #expect(try await bench.get(path).status == 404) }
            #expect(try await bench.get("layouts/submission_api/metadata").status == 200)
        }
    }
}

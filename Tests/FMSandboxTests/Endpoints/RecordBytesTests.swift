import CustomDump
import FMTestSupport
import Testing

@testable import FMSandbox

/// A record is answered with the same bytes as by a real server.
@Suite(.timeLimit(.minutes(15))) struct RecordBytesTests {
    /// A solution with the layout, the relationships and the record of the saved answer.
    private static let care: Solution = {
        var solution = Solution(
            name: "FERRY_CARE_v2",
            tables: [
                .init(
                    name: "inspection",
                    fields: [
                        .init("no", .number), .init("ferry_no", .number), .init("surveyor_no", .number),
                        .init("closed", .number), .init("closed_at", .timestamp),
                    ],
                    records: [
                        .init(recordId: 1, ["no": "9"]), .init(recordId: 3, ["no": "10"]),
                        .init(
                            recordId: 7,
                            modId: 132,
                            [
                                "no": "4", "ferry_no": "8", "surveyor_no": "2", "closed": "1",
                                "closed_at": "09/14/2031 16:08:45",
                            ]
                        ),
                    ]
                ),
                .init(
                    name: "finding",
                    fields: [
                        .init("no", .number), .init("point_no", .number), .init("remark"),
                        .init("inspection_no", .number),
                    ],
                    records: [
                        (91, "Good as New"), (91, "Rope|Horn|Raft|Lamp|Pump"), (90, "Paint by May"), (91, "Aye"),
                        (91, "04/07/2031"),
                    ]
                    .enumerated().map { place, finding in
                        .init(
                            recordId: 201 + place,
                            modId: finding.0,
                            [
                                "no": "\(410 + place)", "point_no": "\(1 + place)", "remark": finding.1,
                                "inspection_no": "4",
                            ]
                        )
                    }
                ),
                .init(
                    name: "point",
                    fields: [.init("no", .number), .init("wording")],
                    records: [
                        "In what state is the hull?", "Which gear was tried?", "Is anything left to do?",
                        "May she sail on", "Next look on",
                    ]
                    .enumerated().map { place, wording in .init(["no": "\(1 + place)", "wording": wording]) }
                ),
                .init(
                    name: "paper",
                    fields: [
                        .init("file_name"), .init("shelf"), .init("byte_count", .number), .init("media_type"),
                        .init("no", .number), .init("scanner_key"), .init("inspection_no", .number),
                    ],
                    records: [
                        ("HeronHull_Survey.pdf", "2830417", "83b146902f7c1"),
                        ("HeronEngine_Survey.pdf", "941286", "83b14690da25e"),
                    ]
                    .enumerated().map { place, paper in
                        .init(
                            recordId: 72 + place,
                            [
                                "file_name": paper.0, "shelf": "6", "byte_count": paper.1,
                                "media_type": "application/pdf", "no": "\(38 + place)", "scanner_key": paper.2,
                                "inspection_no": "4",
                            ]
                        )
                    }
                ),
            ],
            occurrences: [.init(name: "checklist_point", table: "point")],
            relationships: [
                .init("inspection", "finding", matches: [.init("no", "inspection_no")]),
                .init("finding", "checklist_point", matches: [.init("point_no", "no")]),
                .init("inspection", "paper", matches: [.init("no", "inspection_no")]),
            ]
        )
        solution.layouts = [
            .layout(
                .init(
                    name: "inspection_api",
                    table: "inspection",
                    fields: ["no", "ferry_no", "surveyor_no", "closed", "closed_at"],
                    portals: [
                        .init(
                            table: "finding",
                            name: "finding",
                            fields: [
                                "finding::no", "finding::point_no", "finding::remark", "checklist_point::wording",
                                "finding::inspection_no",
                            ]
                        ),
                        .init(
                            table: "paper",
                            name: "paper",
                            fields: [
                                "paper::file_name", "paper::shelf", "paper::byte_count", "paper::media_type",
                                "paper::no", "paper::scanner_key", "paper::inspection_no",
                            ]
                        ),
                    ]
                )
            )
        ]
        solution.accounts = [.init(name: "admin", password: "secret")]
        return solution
    }()

    /// The text as the server sent it, without the white space of the tool that indented it.
    private static func wireText(_ name: String) throws -> String {
        var isText = false
        // These answers contain no escaped quote.
        return String(decoding: try SavedAnswer.named(name).bytes(), as: UTF8.self).filter { character in
            if character == "\"" { isText.toggle() }
            return isText || !character.isWhitespace
        }
    }

    @Test(.tags(.recorded), arguments: Venue.allCases)
    func aRecordAnswersByteForByte(_ venue: Venue) async throws {
        try await withBench(venue, [Self.care]) { (bench: Bench) async throws in
            let record = try await bench.get("layouts/inspection_api/records/7")
            expectNoDifference(record.text, try Self.wireText("record-get/one-record-two-portals-2025"))
            let found = try await bench.find("inspection_api", [["ferry_no": "8"]])
            expectNoDifference(found.text, try Self.wireText("record-find/one-record-two-portals-2025"))
        }
    }

    @Test(.tags(.recorded)) func version17HasNoInfo() async throws {
        try await withBench(.inProcess, [Self.care], configure: { $0.serverVersion = .v17 }) {
            (bench: Bench) async throws in
            let answer = try await bench.get("layouts/inspection_api/records/7")
            #expect(answer.response.object?.keys == ["data"])
            #expect(answer.response["data"][0].object?.keys == ["fieldData", "portalData", "recordId", "modId"])
            #expect(answer.response["data"][0]["portalData"]["paper"][0].object?.keys.last == "modId")
            let missing = [
                "/productInfo", "/databases", "/validateSession", "layouts", "scripts", "layouts/inspection_api",
                "layouts/inspection_api/script/x",
            ]
            for path in missing { #expect(try await bench.get(path).status == 404) }
            #expect(try await bench.get("layouts/inspection_api/metadata").status == 200)
        }
    }
}

import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// The rows of one portal of one record, including those that do not come with the record.
@Suite(.timeLimit(.minutes(15))) struct PortalRowsTests {
    struct Line: DataAPIPortalRecord, Codable, Equatable, Sendable {
        var recordId: Int
        var modId: Int
        var article: String

        enum CodingKeys: String, CodingKey { case recordId, modId, article = "Lines::Article" }
    }

    struct Order: LayoutRecord {
        static let layout = "Orders"
        struct Portals: Codable, Sendable {
            var lines: [Line]
            var notes: [Line]
            enum CodingKeys: String, CodingKey { case lines = "Lines", notes = "Remarks" }
        }
        var number: Int
        enum CodingKeys: String, CodingKey { case number = "Number" }
    }

    /// Rows of FileMaker Server 17 have no modId.
    struct OldOrder: LayoutRecord {
        static let layout = "Orders"
        struct Line: DataAPIPortalRecord, Codable, Sendable {
            var recordId: String
            var modId: String?
        }
        struct Portals: Codable, Sendable { var lines: [Line] }
        enum CodingKeys: String, CodingKey { case number = "Number" }
        var number: Int
    }

    private static func solution(_ count: Int) -> Solution {
        Solution(
            name: "Shop",
            tables: [
                .init(
                    name: "Orders",
                    fields: [.init("Number", .number)],
                    records: [.init(["Number": "1"]), .init(["Number": "2"])]
                ),
                .init(
                    name: "Lines",
                    fields: [.init("Order", .number), .init("Article")],
                    records: (0..<count).map { .init(["Order": "1", "Article": "a\($0)"]) }
                ),
            ],
            relationships: [.init("Orders", "Lines", matches: [.init("Number", "Order")])],
            layouts: [
                .layout(
                    .init(
                        name: "Orders",
                        table: "Orders",
                        fields: ["Number"],
                        portals: [
                            .init(table: "Lines", fields: ["Lines::Article"]),
                            .init(table: "Lines", name: "Remarks", fields: ["Lines::Article"]),
                        ]
                    )
                ),
                .layout(.init(name: "Lines", table: "Lines", fields: ["Article"])),
            ]
        )
    }

    @Test func moreRowsThanComeWithTheRecord() async throws {
        try await Hosted.run(Self.solution(120)) { database, sandbox in
            let orders = database.layout(Order.self)
            let order = try await orders.record(id: 1).firstValue()
            expectNoDifference(order.portalData?.lines.count, 50)
            expectNoDifference(order.truncatedPortals, ["Lines", "Remarks"])
            let told = Locked<[DataAPI.PagingProgress]>([])
            let lines = orders.rows(\.lines, of: order.recordId, portal: "Lines", pageSize: 50) { progress in
                told.change { $0.append(progress) }
            }
            let articles = try await lines.outcome().get().map(\.article)
            expectNoDifference(articles, (0..<120).map { "a\($0)" })
            expectNoDifference(told.value, [50, 100, 120].map { .init(delivered: $0, total: 120) })
            expectNoDifference(sandbox.counters.requests[.getRecord], 4)
            // By its object name, and without a fixed page size.
            let remarks = try await orders.rows(\.notes, of: "1", portal: "Remarks").outcome().get()
            expectNoDifference(remarks.count, 120)
        }
    }

    @Test func aRowDeletedMeanwhileIsToldAndNoneIsLost() async throws {
        try await Hosted.run(Self.solution(60)) { database, _ in
            let orders = database.layout(Order.self)
            let told = Locked<[DataAPI.PageDrift]>([])
            let subscriber = TrackingSubscriber<Line, FMRest.APIError>(initialDemand: .max(5))
            orders.rows(\.lines, of: 1, portal: "Lines", pageSize: 20) { progress in
                told.change { $0 += progress.drift }
            }
            .subscribe(subscriber)
            await subscriber.valueCount(atLeast: 5)
            _ = try await database.addLayout("Lines").deleteRecord(recordId: 3).firstValue()
            subscriber.request(.unlimited)
            await subscriber.completion()
            expectNoDifference(subscriber.values.map(\.recordId), Array(1...60))
            expectNoDifference(told.value, [DataAPI.PageDrift(.moved, places: -1)])
        }
    }

    @Test func noRowsAndNoRecord() async throws {
        try await Hosted.run(Self.solution(3)) { database, _ in
            let orders = database.layout(Order.self)
            let none = try await orders.rows(\.lines, of: 2, portal: "Lines").outcome().get()
            expectNoDifference(none, [])
            let missing = await orders.rows(\.lines, of: 99, portal: "Lines").outcome().failure
            expectNoDifference(missing?.fileMakerCode, .recordMissing)
            let unknown = await orders.rows(\.lines, of: 1, portal: "Nothing").outcome().failure
            expectNoDifference(unknown?.fileMakerCode, 102)
            let noPage = await orders.rows(\.lines, of: 1, portal: "Lines", pageSize: -1).outcome().failure
            expectNoDifference(noPage?.code, .invalidRequest)
        }
    }

    @Test func serversThatDoNotCountRows() async throws {
        try await Hosted.run(Self.solution(45), sandbox: { $0.serverVersion = .v17 }) { database, _ in
            let rows = database.layout(OldOrder.self).rows(\.lines, of: 1, portal: "Lines", pageSize: 15)
            let ids = try await rows.outcome().get().map(\.recordId)
            expectNoDifference(ids, (1...45).map(String.init))
        }
    }
}

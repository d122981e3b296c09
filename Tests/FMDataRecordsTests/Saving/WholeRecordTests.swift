import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// What a whole record sends: never a field of another table, a calculation, a summary, a global or a container.
@Suite(.timeLimit(.minutes(15))) struct WholeRecordTests {
    // MARK: A file with orders

    /// Its layout shows a field of each kind. It contains one order, number 49, of a customer in Paris.
    static let budgetClient: Solution = {
        var solution = Solution(
            name: "Desk",
            tables: [
                .init(
                    name: "Orders",
                    fields: [
                        .init("Number", validation: .init(unique: true)), .init("CustomerID"), .init("Note"),
                        .init("Shout", calculation: "Upper ( Note )"),
                        .init("Count", summary: .init(.count, of: "Number")),
                        .init("gFilter", isGlobal: true), .init("Photo", .container),
                    ],
                    records: [.init(["Number": "49", "CustomerID": "1", "Note": "soon"])],
                    globals: ["gFilter": "mine"]
                ),
                .init(
                    name: "Customers",
                    fields: [.init("ID"), .init("City")],
                    records: [.init(["ID": "1", "City": "Paris"])]
                ),
                .init(name: "Lines", fields: [.init("Number"), .init("Article"), .init("Count", .number)]),
                .init(
                    name: "Articles",
                    fields: [.init("ID"), .init("Title")],
                    records: [.init(["ID": "a", "Title": "Ink"])]
                ),
            ],
            relationships: [
                .init("Orders", "Customers", matches: [.init("CustomerID", "ID")]),
                .init(
                    "Orders",
                    "Lines",
                    matches: [.init("Number", "Number")],
                    rightRules: .init(allowsCreation: true)
                ),
                .init("Lines", "Articles", matches: [.init("Article", "ID")]),
            ],
            layouts: [
                .layout(
                    .init(
                        name: "Orders",
                        table: "Orders",
                        fields: [
                            "Number", "CustomerID", "Note", "Customers::City", "Shout", "Count", "gFilter", "Photo",
                        ],
                        portals: [.init(table: "Lines", fields: ["Lines::Article", "Lines::Count", "Articles::Title"])]
                    )
                )
            ]
        )
        solution.addJobs()
        return solution
    }()

    /// An order as it is declared without thinking of writes: properties that are not given are empty.
    struct Order: LayoutRecord, Equatable {
        static let layout = "Orders"

        var number: String
        var customerID = "1"
        var note = ""
        var customersCity = ""
        var shout = ""
        var count: Int?
        var filter = ""
        var photo = ""

        enum CodingKeys: String, CodingKey {
            case number = "Number"
            case customerID = "CustomerID"
            case note = "Note"
            case customersCity = "Customers::City"
            case shout = "Shout"
            case count = "Count"
            case filter = "gFilter"
            case photo = "Photo"
        }

        struct Portals: Codable, Sendable, Equatable {
            var lines: [Line]
            enum CodingKeys: String, CodingKey { case lines = "Lines" }
        }

        struct Line: Codable, Sendable, Equatable {
            var article: String
            var count: Int
            var title = ""
            enum CodingKeys: String, CodingKey {
                case article = "Lines::Article"
                case count = "Lines::Count"
                case title = "Articles::Title"
            }
        }

        struct Changes: RecordChanges {
            typealias Record = Order
            var number: String?
            var note: String?
            var customersCity: String?
            enum CodingKeys: String, CodingKey {
                case number = "Number"
                case note = "Note"
                case customersCity = "Customers::City"
            }
        }
    }

    /// The same order, with a list of the fields that it cannot write.
    struct KnownOrder: LayoutRecord {
        static let layout = "Orders"
        static var readOnlyFields: [CodingKeys]? { [.shout, .count, .filter, .photo] }

        var number: String
        var customerID = "1"
        var note = ""
        var customersCity = ""
        var shout = ""
        var count: Int?
        var filter = ""
        var photo = ""

        typealias CodingKeys = Order.CodingKeys
    }

    private struct World {
        let database: DataAPI.Database
        let sandbox: Sandbox
        var orders: DataAPI.TypedLayout<Order> { database.layout(Order.self) }

        func values(of table: String) -> [[String: String]] {
            (sandbox.records(ofTable: table, inDatabase: "Desk") ?? []).map(\.values)
        }

        var cities: [String?] { values(of: "Customers").map { $0["City"] } }
        var notes: [String: String] {
            Dictionary(values(of: "Orders").map { ($0["Number"] ?? "", $0["Note"] ?? "") }) { first, _ in first }
        }
        var descriptions: Int { sandbox.counters.requests[.layoutMetadata] ?? 0 }
    }

    private func run(_ body: (World) async throws -> Void) async throws {
        // One session, so that its globals apply to all calls. The description of a layout is kept for a minute.
        try await Hosted.run(
            Self.budgetClient,
            client: { $0.sessions.maximumSessions = 1 },
            clock: TestClock()
        ) { database, sandbox in
            try await body(World(database: database, sandbox: sandbox))
        }
    }

    // MARK: Whole records

    enum Way: CaseIterable {
        case create, upsert, batchOfCreates, batchOfUpserts, writing, commit
    }

    /// Writes a new order and, if the way supports it, the existing one.
    private func write<R: LayoutRecord>(
        _ orders: [R],
        _ way: Way,
        in layout: DataAPI.TypedLayout<R>,
        by key: R.CodingKeys
    ) async throws {
        let isDone: [Bool]
        switch way {
        case .create:
            for order in orders.prefix(1) { _ = try await layout.create(order).firstValue() }
            return
        case .upsert:
            for order in orders { _ = try await layout.upsert(order, by: key).firstValue() }
            return
        case .batchOfCreates:
            let options = DataAPI.BatchOptions(idempotencyKey: key.stringValue)
            isDone = try await layout.writing(orders.prefix(1).map { .create($0) }, options: options)
                .outcome().get().map(\.isDone)
        case .batchOfUpserts:
            isDone = try await layout.writing(orders.map { .upsert($0, by: key) }).outcome().get().map(\.isDone)
        case .writing:
            isDone = try await layout.writing([.create(orders[0]), .upsert(orders[1], by: key)]).outcome().get()
                .map(\.isDone)
        case .commit:
            let script = DataAPI.CommitScript("Run Job", in: layout.layout.database.addLayout("Jobs"))
            isDone = try await layout.writing([DataAPI.RecordWrite.create(orders[0])], committing: script)
                .outcome()
                .get().map(\.isDone)
        }
        #expect(!isDone.contains(false))
    }

    private func isKeptApart(_ world: World, _ way: Way) async throws {
        expectNoDifference(world.cities, ["Paris"])
        let (new, old) = (world.notes["50"], world.notes["49"])
        expectNoDifference(new, "new")
        let changesTheOldOne = [.upsert, .batchOfUpserts, .writing].contains(way)
        expectNoDifference(old, changesTheOldOne ? "late" : "soon")
        let record = try await world.orders.record(id: 1).firstValue()
        expectNoDifference(record.fieldData.filter, "mine")
    }

    @Test(arguments: Way.allCases) func whatIsNotTheRecordsOwnStaysAsItIs(way: Way) async throws {
        try await run { world in
            let orders = [Order(number: "50", note: "new"), Order(number: "49", note: "late")]
            try await write(orders, way, in: world.orders, by: .number)
            try await isKeptApart(world, way)
            // The layout was asked once for all of them.
            expectNoDifference(world.descriptions, 1)
        }
    }

    @Test(arguments: Way.allCases) func aTypeThatListsItsFieldsAsksNothing(way: Way) async throws {
        try await run { world in
            let orders = [KnownOrder(number: "50", note: "new"), KnownOrder(number: "49", note: "late")]
            try await write(orders, way, in: world.database.layout(KnownOrder.self), by: .number)
            try await isKeptApart(world, way)
            expectNoDifference(world.descriptions, 0)
        }
    }

    @Test func whereTheHostDoesNotDescribeTheLayoutNamesDecide() async throws {
        try await run { world in
            world.sandbox.inject(.error(.init(500)), on: .layoutMetadata, count: nil)
            let error = await world.orders.create(Order(number: "50", note: "new")).awaitSingleResult().failure
            // The order is sent, without the customer's city, and FileMaker decides: it refuses the other fields that
            // are not its own.
            expectNoDifference(error?.fileMakerCode, 201)
            expectNoDifference(world.cities, ["Paris"])
            expectNoDifference(world.values(of: "Orders").count, 1)
        }
    }

    @Test func rowsOfAPortalCarryTheFieldsOfItsTable() async throws {
        try await run { world in
            let lines = Order.Portals(lines: [.init(article: "a", count: 2), .init(article: "a", count: 3)])
            _ = try await world.orders.create(Order(number: "50"), portals: lines).firstValue()
            expectNoDifference(world.values(of: "Lines").map { $0["Count"] }, ["2", "3"])
            expectNoDifference(world.values(of: "Articles").map { $0["Title"] }, ["Ink"])
        }
    }

    @Test func anUpsertTellsOfWhatItDoesNotWriteWhatTheHostHas() async throws {
        try await run { world in
            let result = try await world.orders.upsert(Order(number: "49", note: "late"), by: .number).firstValue()
            let saved = try #require(result.saved)
            expectNoDifference(saved.sentFields, ["Note"])
            expectNoDifference(saved.record.fieldData.customersCity, "Paris")
            expectNoDifference(saved.record.fieldData.shout, "LATE")
        }
    }

    // MARK: Field by field

    @Test func whoNamesAFieldOfAnotherTableWritesIt() async throws {
        try await run { world in
            let orders = world.orders
            _ = try await orders.edit(1, setting: ["Customers::City": "Rome"]).firstValue()
            expectNoDifference(world.cities, ["Rome"])
            var draft = try await orders.record(id: 1).firstValue().draft()
            draft.customersCity = "Oslo"
            _ = try await orders.save(draft).firstValue()
            expectNoDifference(world.cities, ["Oslo"])
            // The changed fields of a draft are checked against the layout.
            expectNoDifference(world.descriptions, 1)
            _ = try await orders.edit(1, setting: Order.Changes(customersCity: "Bern")).firstValue()
            expectNoDifference(world.cities, ["Bern"])
            let untyped = orders.layout.of(FieldData.self)
            _ = try await untyped.upsert(["Number": "49", "Customers::City": "Kiel"], by: "Number").firstValue()
            expectNoDifference(world.cities, ["Kiel"])
            expectNoDifference(world.descriptions, 1)
        }
    }

    @Test func aPartialRowIsPartial() async throws {
        try await run { world in
            let orders = world.orders
            func late(_ note: String, _ city: String? = nil) -> Order.Changes {
                Order.Changes(number: "49", note: note, customersCity: city)
            }
            let one = try await orders.upsert(late("one", "Rome"), by: .number).firstValue()
            let saved = try #require(one.saved)
            expectNoDifference(saved.sentFields, ["Note", "Customers::City"])
            // The record was read again, since the changes do not say what the rest of it is.
            expectNoDifference(saved.record.fieldData.shout, "ONE")
            expectNoDifference(saved.record.fieldData.customerID, "1")
            expectNoDifference(world.cities, ["Rome"])

            let rows = try await orders.writing([late("two")].map { .upsert($0, by: .number) }).outcome().get()
            expectNoDifference(rows.map(\.short), ["0 edited"])
            expectNoDifference(world.notes, ["49": "two"])
            let written = try await orders.writing([
                .upsert(late("three"), by: .number), .create(Order.Changes(number: "50", note: "new")),
                .edit(1, setting: Order.Changes(note: "four")),
            ])
            .outcome().get().map(\.short).sorted()
            expectNoDifference(written, ["0 edited", "1 created", "2 edited"])
            expectNoDifference(world.notes["50"], "new")
            let script = DataAPI.CommitScript("Run Job", in: world.database.addLayout("Jobs"))
            let committed = try await orders.writing(
                [
                    DataAPI.RecordWrite<Order>.create(Order.Changes(number: "51", note: "newer")),
                    .edit(1, setting: Order.Changes(note: "five")),
                ],
                committing: script
            ).outcome().get()
            expectNoDifference(committed.map(\.short), ["0 created", "1 edited"])
            expectNoDifference(world.notes, ["49": "five", "50": "new", "51": "newer"])
            expectNoDifference(world.cities, ["Rome"])
            expectNoDifference(world.descriptions, 0)

            let new = try await orders.upsert(Order.Changes(number: "52", note: "newest"), by: .number).firstValue()
            expectNoDifference(new.result.kind, .created)
            let error = await orders.upsert(Order.Changes(note: "none"), by: .number).awaitSingleResult().failure
            expectNoDifference(error?.fields, ["Number"])
        }
    }
}

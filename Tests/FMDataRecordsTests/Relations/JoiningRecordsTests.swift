import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Records joined with their related records, by one find for many keys.
@Suite(.timeLimit(.minutes(15))) struct JoiningRecordsTests {
    struct Order: LayoutRecord, Equatable {
        static let layout = "Orders"
        var number: Int
        var customerID: Int?
        var code: String

        enum CodingKeys: String, CodingKey {
            case number = "Number"
            case customerID = "CustomerID"
            case code = "Code"
        }
    }

    struct Customer: LayoutRecord, Equatable {
        static let layout = "Customers"
        var id: Int
        var code: String?

        enum CodingKeys: String, CodingKey {
            case id = "ID"
            case code = "Code"
        }
    }

    private typealias Found = DataAPI.TypedLayout<Customer>.Record
    private typealias Pairs = TrackingSubscriber<DataAPI.Joined<Int, Found>, FMRest.APIError>
    private typealias PairsOfOne = TrackingSubscriber<DataAPI.JoinedOne<Int, Found>, FMRest.APIError>

    private static func shop(orders: [[String: String]], customers: [[String: String]]) -> Solution {
        Solution(
            name: "Shop",
            tables: [
                .init(
                    name: "Orders",
                    fields: [.init("Number", .number), .init("CustomerID", .number), .init("Code")],
                    records: orders.map { Solution.Record($0) }
                ),
                .init(
                    name: "Customers",
                    fields: [.init("ID", .number), .init("Code")],
                    records: customers.map { Solution.Record($0) }
                ),
            ],
            layouts: [
                .layout(.init(name: "Orders", table: "Orders", fields: ["Number", "CustomerID", "Code"])),
                .layout(.init(name: "Customers", table: "Customers", fields: ["ID", "Code"])),
                .layout(.init(name: "Codes", table: "Customers", fields: ["Code"])),
            ]
        )
    }

    /// Records that are available at once, like those of a page.
    private func parents<R: RecordFields>(
        _ layout: DataAPI.TypedLayout<R>
    ) async throws -> some Publisher<DataAPI.TypedLayout<R>.Record, FMRest.APIError> {
        try await layout.page(limit: 10_000).firstValue().data.publisher
            .setFailureType(to: FMRest.APIError.self)
    }

    @Test(.thorough) func aThousandRowsTakeElevenRequestsOrTwo() async throws {
        let shop = Self.shop(
            orders: (1...1_000).map { ["Number": "\($0)", "CustomerID": "\($0 % 100)"] },
            customers: (0..<100).map { ["ID": "\($0)"] }
        )
        try await Hosted.run(shop) { database, sandbox in
            let (orders, customers) = (database.layout(Order.self), database.layout(Customer.self))
            for (groupSize, finds) in [(100, 10), (1_000, 1)] {
                let before = sandbox.counters.requests[.find] ?? 0
                let rows = try await parents(orders)
                    .joiningOne(customers, on: \.fieldData.customerID, equals: .id, inGroupsOf: groupSize)
                    .outcome().get()
                expectNoDifference(rows.map(\.parent.fieldData.number), Array(1...1_000))
                expectNoDifference(rows.map { $0.child?.fieldData.id }, (1...1_000).map { $0 % 100 })
                expectNoDifference((sandbox.counters.requests[.find] ?? 0) - before, finds)
            }
            expectNoDifference(sandbox.counters.requests[.getRecords], 2)
        }
    }

    @Test func childrenComeInTheOrderOfTheirFoundSetAndFulfilItsConditions() async throws {
        let shop = Self.shop(
            orders: (1...9).map { ["Number": "\($0)", "CustomerID": "\($0 % 3)", "Code": $0 == 5 ? "void" : ""] },
            customers: [["ID": "2"], ["ID": "7"], ["ID": "1"]]
        )
        try await Hosted.run(shop) { database, _ in
            let (orders, customers) = (database.layout(Order.self), database.layout(Customer.self))
            let valid = orders.find { !($0(.code) == "void") }.sorted(by: .number, .descending)
            let rows = try await parents(customers)
                .joining(valid, on: { $0.fieldData.id }, equals: .customerID)
                .outcome().get()
            expectNoDifference(rows.map(\.parent.fieldData.id), [2, 7, 1])
            expectNoDifference(rows.map { $0.children.map(\.fieldData.number) }, [[8, 2], [], [7, 4, 1]])
            expectNoDifference(rows.map(\.hasDrifted), [false, false, false])
        }
    }

    @Test func valuesWithoutKeyGetNoChildrenAndCostNothing() async throws {
        let shop = Self.shop(orders: [["Number": "1"]], customers: [["Code": ""], ["ID": "0"]])
        try await Hosted.run(shop) { database, sandbox in
            let customers = database.layout(Customer.self)
            let withoutNumber = try await parents(database.layout(Order.self))
                .joining(customers, on: \.fieldData.customerID, equals: .id)
                .outcome().get()
            expectNoDifference(withoutNumber.map(\.children.count), [0])
            let withoutText = try await ["", ""].publisher.setFailureType(to: FMRest.APIError.self)
                .joining(customers, on: { $0 }, equals: .code)
                .outcome().get()
            expectNoDifference(withoutText.map(\.children.count), [0, 0])
            expectNoDifference(sandbox.counters.requests[.find], nil)
        }
    }

    /// FileMaker's finds ignore case. To which key a record belongs must not depend on the other keys that are looked
    /// up.
    @Test func keysThatTheHostTakesForTheSameAreLookedForApart() async throws {
        let shop = Self.shop(orders: [], customers: [["ID": "1", "Code": "Ada"], ["ID": "2", "Code": "bob"]])
        try await Hosted.run(shop) { database, sandbox in
            let rows = try await ["ada", "BOB", "Ada", "eve", "ada"].publisher.setFailureType(to: FMRest.APIError.self)
                .joining(database.layout(Customer.self), on: { $0 }, equals: .code)
                .outcome().get()
            expectNoDifference(rows.map { $0.children.map(\.fieldData.id) }, [[1], [2], [1], [], [1]])
            expectNoDifference(sandbox.counters.requests[.find], 2)
        }
    }

    @Test func aTextIsANumberToAFieldThatHoldsNumbers() async throws {
        try await Hosted.run(Self.shop(orders: [], customers: [["ID": "7"]])) { database, _ in
            let rows = try await ["7", "007", "8"].publisher.setFailureType(to: FMRest.APIError.self)
                .joiningOne(database.layout(Customer.self), on: { $0 }, equals: .id)
                .outcome().get()
            expectNoDifference(rows.map { $0.child?.fieldData.id }, [7, 7, nil])
        }
    }

    /// A number field takes "5 kg" for 5, as a find in it does. A text without a number belongs to no record. Neither
    /// fails the join.
    @Test func anOddKeyEndsNoJoin() async throws {
        try await Hosted.run(Self.shop(orders: [], customers: [["ID": "5"], ["ID": "7"]])) { database, _ in
            let customers = database.layout(Customer.self)
            for groupSize in [1, 100] {
                let rows = try await ["7", "5 kg", "n/a", "A5", "5", "5 kg", "", "."]
                    .publisher.setFailureType(to: FMRest.APIError.self)
                    .joining(customers, on: { $0 }, equals: .id, inGroupsOf: groupSize)
                    .outcome().get()
                expectNoDifference(
                    rows.map { $0.children.map(\.fieldData.id) },
                    [[7], [5], [], [5], [5], [5], [], []]
                )
            }
        }
    }

    /// The other way round: a text in the number field of a child.
    @Test func anOddKeyOfAChildEndsNoJoin() async throws {
        let shop = Self.shop(orders: [], customers: [["ID": "5 kg", "Code": "a"], ["ID": "7", "Code": "b"]])
        try await Hosted.run(shop) { database, _ in
            let customers = database.addLayout("Customers").of(FieldData.self)
            let rows = try await [5, 7, 8].publisher.setFailureType(to: FMRest.APIError.self)
                .joining(customers, on: { $0 }, equals: "ID")
                .outcome().get()
            expectNoDifference(rows.map { $0.children.map { $0.fieldData["Code"] } }, [["a"], ["b"], []])
        }
    }

    /// Texts do not belong into a number field, and only the host knows which key finds one. So each key is looked up
    /// alone.
    @Test func whatIsLikeNoKeyIsLookedForByEachKeyAlone() async throws {
        let shop = Self.shop(
            orders: [],
            customers: [["ID": "open end", "Code": "a"], ["ID": "7", "Code": "b"], ["ID": "8", "Code": "c"]]
        )
        try await Hosted.run(shop) { database, sandbox in
            let customers = database.addLayout("Customers").of(FieldData.self)
            let rows = try await ["7", "open", "x", "7"].publisher.setFailureType(to: FMRest.APIError.self)
                .joining(customers, on: { $0 }, equals: "ID")
                .outcome().get()
            expectNoDifference(
                rows.map { $0.children.map { $0.fieldData["Code"] } },
                [["b"], ["a"], [], ["b"]]
            )
            expectNoDifference(sandbox.counters.requests[.find], 4)
        }
    }

    @Test func fieldsMayBeKnownAtRunTimeOnly() async throws {
        let shop = Self.shop(orders: [["Number": "1", "CustomerID": "7"]], customers: [["ID": "7", "Code": "seven"]])
        try await Hosted.run(shop) { database, _ in
            let rows = try await parents(database.addLayout("Orders").of(FieldData.self))
                .joiningOne(
                    database.addLayout("Customers").of(FieldData.self),
                    on: { $0.fieldData["CustomerID"]?.int },
                    equals: "ID"
                )
                .outcome().get()
            expectNoDifference(rows.map { $0.child?.fieldData["Code"] }, ["seven"])
        }
    }

    /// Values of another server, including values that are joined already.
    @Test func joinsGoAcrossServersAndOnEachOther() async throws {
        let shop = Self.shop(orders: [["Number": "1", "CustomerID": "7"]], customers: [["ID": "7"]])
        try await Hosted.run(shop) { database, _ in
            try await World.run { world in
                struct Phone: LayoutRecord {
                    static let layout = "Phones"
                    var kind: String
                    var contact: Int
                    enum CodingKeys: String, CodingKey { case kind = "Kind", contact = "ContactId" }
                }
                let rows = try await parents(database.layout(Order.self))
                    .joiningOne(database.layout(Customer.self), on: \.fieldData.customerID, equals: .id)
                    .joining(world.database.layout(Phone.self), on: \.parent.fieldData.number, equals: .contact)
                    .outcome().get()
                expectNoDifference(rows.map { $0.parent.child?.fieldData.id }, [7])
                expectNoDifference(rows.map { $0.children.map(\.fieldData.kind) }, [["work", "home"]])
            }
        }
    }

    // MARK: Missing keys and drift

    @Test func aRecordThatDoesNotShowItsKeyIsAFailureAndNotLeftOut() async throws {
        struct Coded: LayoutRecord {
            static let layout = "Customers"
            var id: Int?
            var code: String?
            enum CodingKeys: String, CodingKey { case id = "ID", code = "Code" }
        }
        try await Hosted.run(Self.shop(orders: [], customers: [["ID": "7", "Code": "x"]])) { database, _ in
            let coded = database.layout(Coded.self).find { $0(.code) == "x" }.responseLayout("Codes")
            let error = await [7].publisher.setFailureType(to: FMRest.APIError.self)
                .joining(coded, on: { $0 }, equals: .id)
                .outcome().failure
            expectNoDifference(error?.code, .decoding)
            expectNoDifference(error?.fields, ["ID"])
        }
    }

    @Test func childrenThatChangeBetweenTheirPagesHaveDrifted() async throws {
        let shop = Self.shop(orders: (1...25).map { ["Number": "\($0)", "CustomerID": "7"] }, customers: [])
        try await Hosted.run(shop) { database, sandbox in
            let orders = database.layout(Order.self)
            let joining = ChildFinder(
                children: orders.allRecords,
                parentKey: { (customer: Int) in customer },
                childKey: Order.CodingKeys.customerID,
                pageSize: 10
            )
            let still = try await joining.pairs(of: [7]).firstValue()[0]
            expectNoDifference(still.children.map(\.fieldData.number), Array(1...25))
            expectNoDifference(still.hasDrifted, false)
            expectNoDifference(sandbox.counters.requests[.find], 3)

            sandbox.inject(.holdAnswer, on: .find, skipping: 1)
            typealias Pair = DataAPI.Joined<Int, DataAPI.TypedLayout<Order>.Record>
            let reading = TrackingSubscriber<[Pair], FMRest.APIError>()
            joining.pairs(of: [7]).subscribe(reading)
            await sandbox.untilAnswersHeld()
            _ = try await orders.delete(still.children[0].recordId).firstValue()
            sandbox.releaseAnswers()
            await reading.completion()
            // The 21st record has moved up to a page that was read already, and is found there.
            expectNoDifference(reading.values.first?[0].children.map(\.fieldData.number), Array(1...25))
            expectNoDifference(reading.values.first?[0].hasDrifted, true)
        }
    }

    // MARK: Demand and ends

    @Test func pairsBeforeAFailureAreHandedOver() async throws {
        let shop = Self.shop(orders: [], customers: (1...4).map { ["ID": "\($0)"] })
        // One session: the second find waits for the first.
        try await Hosted.run(shop, client: { $0.sessions.maximumSessions = 1 }) { database, sandbox in
            sandbox.inject(.error(FileMakerError(802)), on: .find, skipping: 1)
            let subscriber = Pairs()
            (1...4).publisher.setFailureType(to: FMRest.APIError.self)
                .joining(database.layout(Customer.self), on: { $0 }, equals: .id, inGroupsOf: 2)
                .subscribe(subscriber)
            guard case .failure(let error) = await subscriber.completion() else {
                return #expect(Bool(false))
            }
            expectNoDifference(error.fileMakerCode?.rawValue, 802)
            expectNoDifference(subscriber.values.map(\.parent), [1, 2])
            expectNoDifference(subscriber.values.map(\.children.count), [1, 1])
        }
    }

    @Test func nothingIsSentBeforeDemandAndOneGroupForOneValue() async throws {
        let shop = Self.shop(orders: [], customers: (1...4).map { ["ID": "\($0)"] })
        try await Hosted.run(shop) { database, sandbox in
            let subscriber = Pairs(initialDemand: .none)
            (1...4).publisher.setFailureType(to: FMRest.APIError.self)
                .joining(
                    database.layout(Customer.self),
                    on: { $0 },
                    equals: .id,
                    inGroupsOf: 2,
                    isolation: nil
                )
                .subscribe(subscriber)
            expectNoDifference(sandbox.counters.totalRequests, 0)
            subscriber.request(.max(1))
            await subscriber.valueCount(atLeast: 1)
            subscriber.request(.max(1))
            await subscriber.valueCount(atLeast: 2)
            await settled { sandbox.counters }
            expectNoDifference(sandbox.counters.requests[.find], 1)
            subscriber.cancel()
            expectNoDifference(subscriber.values.map(\.parent), [1, 2])
        }
    }

    /// Values that come one by one and never end: each one is looked up at once, without waiting for a full group.
    @Test func valuesThatComeNowAndThenDoNotWaitForEachOther() async throws {
        let shop = Self.shop(orders: [], customers: (1...4).map { ["ID": "\($0)"] })
        try await Hosted.run(shop) { database, _ in
            let values = PassthroughSubject<Int, FMRest.APIError>()
            let subscriber = PairsOfOne()
            values.joiningOne(database.layout(Customer.self), on: { $0 }, equals: .id).subscribe(subscriber)
            for number in 1...3 {
                values.send(number)
                await subscriber.valueCount(atLeast: number)
            }
            expectNoDifference(subscriber.values.map { $0.child?.fieldData.id }, [1, 2, 3])
            subscriber.cancel()
        }
    }
}

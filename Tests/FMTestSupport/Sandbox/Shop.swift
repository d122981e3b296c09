package import FMData
package import FMSandbox
package import FMTesting
package import OpenCombine
import Testing

/// A file with two accounts. Each of them sees only its own orders and customers, one layout of its own, and a field
/// that the other does not see.
package enum Shop {
    package static let ada = Credentials(user: "ada", password: "A")
    package static let eve = Credentials(user: "eve", password: "E")

    package struct Order: LayoutRecord, Equatable {
        package static let layout = "Orders"
        package var number: String
        package var customer: String

        package init(number: String, customer: String) {
            self.number = number
            self.customer = customer
        }

        package enum CodingKeys: String, CodingKey {
            case number = "Number"
            case customer = "Customer"
        }
    }

    package struct Customer: LayoutRecord, Equatable {
        package static let layout = "Customers"
        package var name: String

        package init(name: String) { self.name = name }

        package enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    /// Orders a1 to a6 belong to Ada, e1 to e6 to Eve. The customer of Ada's orders is A, that of Eve's is E.
    package static let solution: Solution = {
        let owners = ["ada", "eve"]
        let orders = (1...6).flatMap { number in
            owners.map { owner -> Solution.Record in
                let letter = String(owner.prefix(1))
                return .init(["Number": "\(letter)\(number)", "Customer": letter.uppercased(), "Owner": owner])
            }
        }
        let customers = owners.map { owner -> Solution.Record in
            .init(["Name": owner.prefix(1).uppercased(), "Owner": owner])
        }
        return Solution(
            name: "Shop",
            tables: [
                .init(
                    name: "Orders",
                    fields: [
                        .init("Number"), .init("Customer"), .init("Owner", autoEnter: .creationAccount),
                        .init("Filter", isGlobal: true), .init("Photo", .container),
                    ],
                    records: orders
                ),
                .init(name: "Customers", fields: [.init("Name"), .init("Owner")], records: customers),
            ],
            layouts: [
                .layout(.init(name: "Orders", table: "Orders", fields: ["Number", "Customer", "Filter", "Photo"])),
                .layout(.init(name: "Customers", table: "Customers", fields: ["Name"])),
            ] + owners.map { Solution.LayoutItem.layout(.init(name: "Of \($0)", table: "Orders", fields: ["Number"])) },
            scripts: [
                .script(.init(name: "Who", steps: [.exit("Get ( AccountName )")])),
                .script(.init(name: "Filter", steps: [.exit("Orders::Filter")])),
            ],
            accounts: [.init(name: "admin", password: "")]
                + owners.map {
                    Solution.Account(name: $0, password: $0.prefix(1).uppercased(), privilegeSet: $0)
                },
            privilegeSets: owners.map { owner in
                Solution.PrivilegeSet(
                    name: owner,
                    hiddenLayouts: owners.filter { $0 != owner }.map { "Of \($0)" },
                    visibleRecords: [
                        "Orders": "Owner = Get ( AccountName )", "Customers": "Owner = Get ( AccountName )",
                    ]
                )
            }
        )
    }()

    /// Runs a test with Ada's database and its host. A test that logs in as another account has to log it out.
    package static func run(
        client: (inout DataAPI.Config) -> Void = { _ in },
        sandbox: (inout Sandbox.Configuration) -> Void = { _ in },
        clock: TestClock? = nil,
        _ body: (DataAPI.Database, Sandbox) async throws -> Void
    ) async throws {
        try await Hosted.run(solution, credentials: ada, sandbox: sandbox, client: client, clock: clock, body)
    }

    /// The numbers of Ada's orders, and those of Eve's.
    package static let adas = (1...6).map { "a\($0)" }
    package static let eves = (1...6).map { "e\($0)" }
}

extension DataAPI.Database {
    package var orders: DataAPI.TypedLayout<Shop.Order> { layout(Shop.Order.self) }

    /// All orders that the account finds.
    package var found: DataAPI.FoundSet<Shop.Order> { orders.find { $0(.number).isNotEmpty }.sorted(by: .number) }

    /// The numbers of the orders that the account finds.
    package func numbers() async throws -> [String] {
        try await found.all(isolation: nil).map(\.fieldData.number).collect().eraseToAnyPublisher().firstValue()
    }

    /// The account as which a script runs.
    package func who() async throws -> String? {
        try await orders.layout.runScript("Who", isolation: nil).firstValue().scriptResult
    }
}

extension Subscribers.Completion where Failure == FMRest.APIError {
    /// The code of the failure.
    package var code: FMRest.APIError.Code? { if case .failure(let error) = self { error.code } else { nil } }

    package var isFinished: Bool { if case .finished = self { true } else { false } }

    package var error: FMRest.APIError? { if case .failure(let error) = self { error } else { nil } }
}

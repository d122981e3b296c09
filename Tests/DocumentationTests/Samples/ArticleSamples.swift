import FMData
import OpenCombine

// The samples of the DocC articles. What a sample takes for granted is declared around it.

private let secret = "secret"

struct Order: Codable, Sendable {
    var number: Int
    var city: String

    enum CodingKeys: String, CodingKey {
        case number = "Number"
        case city = "City"
    }
}

struct OrderPortals: Decodable, Sendable {
    var lines: [Line]

    enum CodingKeys: String, CodingKey {
        case lines = "Lines"
    }
}

struct Line: DataAPIPortalRecord, Sendable {
    var recordId: Int
    var modId: Int
    var article: String

    enum CodingKeys: String, CodingKey {
        case recordId, modId
        case article = "Lines::Article"
    }
}

private enum GettingStarted {
    enum Layouts: String, LayoutKey {
        case people = "People"
        case orders = "Orders"
    }

    static func ask() {
        let orders = DataAPI.Server(host: "fms.example.com")
            .addDatabase("Shop", credentials: Credentials(user: "api", password: secret))
            .addLayout(Layouts.orders)

        let subscription = orders.findRecords(query: FindQuery(query: [["City": "Calgary"]], limit: 25))
            .returnAs(Order.self, OrderPortals.self)
            .sink(
                receiveCompletion: { completion in
                    if case .failure(let error) = completion { print(error) }
                },
                receiveValue: { response in
                    print("\(response.dataInfo.foundCount) found")
                    for record in response.data {
                        print(record.recordId, record.fieldData.number, record.portalData?.lines.count ?? 0)
                    }
                }
            )
        subscription.cancel()
    }

    static func write(orders: DataAPI.Layout) async throws {
        let created = try await orders.createRecord(
            record: EditRecord(createRecord: Order(number: 1, city: "Kiel"))
        ).firstValue()

        _ = try await orders.editRecord(
            record: EditRecord(editRecord: ["City": "Lübeck"], modId: created.modId),
            recordId: created.recordId
        ).firstValue()
    }
}

private func errors(orders: DataAPI.Layout) async throws {
    do {
        _ = try await orders.deleteRecord(recordId: 17).firstValue()
    } catch FileMakerErrorCode.recordMissing {
        print("no such order")
    } catch {
        print(error.isRetryable ? "try again later: \(error)" : "\(error)")
    }
}

private func sessions() {
    var config = DataAPI.Config()
    config.sessions.maximumSessions = 8
    let server = DataAPI.Server(host: "fms.example.com", config: config)
    _ = server
}

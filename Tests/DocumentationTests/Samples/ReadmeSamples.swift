import FMData
import Foundation
import OpenCombine

// The samples of README.md. What a sample takes for granted is declared around it.

private let secret = "secret"

private func firstPipeline() {
    enum Layouts: String, LayoutKey {
        case people = "People"
    }

    struct Person: Codable, Sendable {
        var name: String
        var city: String

        enum CodingKeys: String, CodingKey {
            case name = "Name"
            case city = "City"
        }
    }

    let people = DataAPI.Server(host: "fms.example.com")
        .addDatabase("Contacts", credentials: Credentials(user: "api", password: secret))
        .addLayout(Layouts.people)

    let subscription = people.findRecords(query: FindQuery(query: [["City": "Calgary"]]))
        .returnAs(Person.self)
        .map { response in response.data.map(\.fieldData.name) }
        .sink(
            receiveCompletion: { completion in
                if case .failure(let error) = completion { print(error) }
            },
            receiveValue: { names in print(names) }
        )
    subscription.cancel()
}

private struct Person: Decodable, Sendable {
    var name: String
}

private func awaiting(people: DataAPI.Layout) async throws {
    let response = try await people.getRecords().returnAs(Person.self).firstValue()
    _ = response
}

private func credentialsFromTheEnvironment() -> DataAPI.Database {
    let environment = ProcessInfo.processInfo.environment
    let database = DataAPI.Server(host: environment["FM_HOST"] ?? "localhost")
        .addDatabase("Contacts", credentials: Credentials(user: "api", password: environment["FM_PASSWORD"] ?? ""))
    return database
}

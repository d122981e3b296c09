import FMData
import Foundation
import OpenCombine

// The samples of the articles ComingFromSwiftFM and Errors. What a sample takes for granted is declared around it.

private struct Band: Decodable, Sendable {
    var name: String

    enum CodingKeys: String, CodingKey {
        case name = "Name"
    }
}

private struct Tour: Encodable, Sendable {
    var cities: [String]
}

private struct Quote: Decodable, Sendable {
    var total: Int
}

private func bandsFromTheEnvironment() -> DataAPI.Layout {
    let environment = ProcessInfo.processInfo.environment
    let database = DataAPI.Server(host: environment["FM_HOST"] ?? "localhost")
        .addDatabase(
            environment["FM_DATABASE"] ?? "Bands",
            credentials: Credentials(user: environment["FM_USER"] ?? "", password: environment["FM_PASSWORD"] ?? "")
        )
    let bands = database.addLayout("Bands")
    return bands
}

private func find(bands: DataAPI.Layout) async throws {
    let found = try await bands.findRecords(query: FindQuery(query: [["Name": "Daft*"], ["Genre": "==Disco"]]))
        .returnAs(Band.self)
        .firstValue()
    print("\(found.dataInfo.foundCount) found")
    for record in found.data { print(record.recordId, record.fieldData.name) }
}

private func write(bands: DataAPI.Layout) async throws -> Bool {
    let payload: FieldData = ["Name": "Daft Punk", "Members": 2]
    let created = try await bands.createRecord(record: EditRecord(createRecord: payload)).firstValue()

    let change: FieldData = ["Genre": "House"]
    let edited = try await bands.editRecord(
        record: EditRecord(editRecord: change, modId: created.modId),
        recordId: created.recordId
    ).firstValue()
    print("now version \(edited.modId)")

    let isDeleted = try await bands.deleteRecord(recordId: created.recordId)
        .map { _ in true }
        .replaceError(of: .recordMissing, with: false)
        .firstValue()
    return isDeleted
}

private func scripts(bands: DataAPI.Layout, tour: Tour, pin: String) async throws -> Quote {
    let quote = try await bands.executeScript(script: "Quote", parameter: .json(tour), returning: Quote.self)
        .firstValue()

    _ = try await bands.executeScript(script: "Unlock", parameter: .confidential(pin))
        .failOnScriptError()
        .firstValue()
    return quote
}

// MARK: Errors

private func errorsOfScripts(orders: DataAPI.Layout) async throws {
    let closed = orders.executeScript(script: "Close month")
        .failOnScriptError(except: [.recordMissing])
    _ = closed
}

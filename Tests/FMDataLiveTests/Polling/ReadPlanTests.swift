import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

@Suite struct ReadPlanTests {
    @Test func aFewAreReadOneByOne() {
        let records = (1...20).map { ChangedRecord(id: $0, place: $0, key: .text("\($0)")) }
        expectNoDifference(ReadPlan.parts(records, pageSize: 100), (1...20).map { .single($0) })
    }

    @Test func manyAreReadByTheirKeysFiftyAtATime() {
        let records = (1...402).map { ChangedRecord(id: $0, place: $0, key: .text("\($0)")) }
        let parts = ReadPlan.parts(records, pageSize: 100)
        expectNoDifference(parts.count, 9)
        expectNoDifference(parts.first, .having((1...50).map { .text("\($0)") }))
    }

    @Test func withoutKeysThePagesAreReadOnWhichTheyStand() {
        let places = [3, 90, 103, 1_000, 1_099, 1_100] + (2_000..<2_020)
        let records = places.map { ChangedRecord(id: $0, place: $0) }
        expectNoDifference(
            ReadPlan.parts(records, pageSize: 100),
            [
                .places(3...90), .places(103...103), .places(1_000...1_099), .places(1_100...1_100),
                .places(2_000...2_019),
            ]
        )
    }

    @Test func whatHasNeitherIsReadOneByOne() {
        let records = (1...30).map { ChangedRecord(id: $0) }
        expectNoDifference(ReadPlan.parts(records, pageSize: 100), (1...30).map { .single($0) })
    }
}

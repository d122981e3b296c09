import CustomDump
import FMData
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// The version of a record that several live queries have found, at different times.
@Suite struct LiveRecordTests {
    private func version(_ modId: Int) -> DataAPI.TypedLayout<PlainContact>.Record {
        DataAPI.Record(fieldData: PlainContact(name: "version \(modId)"), recordId: 17, modId: modId)
    }

    private func second(_ number: Int) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(Int64(number)) }

    @Test func aVersionIsShownUnlessANewerOneIs() {
        let record = DataAPI.LiveRecord<PlainContact>(version(3), asOf: second(2))
        let changes = Locked(0)
        let subscription = record.objectWillChange.sink { changes.change { $0 += 1 } }
        // An older version of an earlier poll, and the same version of the same one.
        record.show(version(2), asOf: second(1))
        record.show(version(3), asOf: second(2))
        expectNoDifference(record.record, version(3))
        expectNoDifference(changes.value, 0)
        // A newer version of an earlier poll.
        record.show(version(4), asOf: second(1))
        expectNoDifference(record.record, version(4))
        // An older version of a later poll: the file was replaced by a copy.
        record.show(version(1), asOf: second(3))
        expectNoDifference(record.record, version(1))
        expectNoDifference(changes.value, 2)
        subscription.cancel()
    }
}

import CustomDump
import FMData
import FMTestSupport
import Testing

@testable import FMDataCore
@testable import FMDataRecords

@Suite struct SavedTests {
    private typealias Saved = DataAPI.Saved<PlainContact>

    private let saved = Saved(record: .init(fieldData: PlainContact(name: "Ada"), recordId: 17, modId: 3))

    private func changed(_ change: (inout Saved) -> Void) -> Saved {
        var other = saved
        change(&other)
        return other
    }

    @Test func eachPartMakesADifference() {
        let conflict = DataAPI.FieldConflict(
            field: "City",
            row: nil,
            base: .text("Paris"),
            mine: .text("London"),
            theirs: .text("Oslo"),
            isContested: true
        )
        let others: [(part: String, Saved)] = [
            ("record", changed { $0.record.fieldData.city = "London" }),
            ("kind", changed { $0.result.kind = .unchanged }),
            ("modId", changed { $0.result.modId = 4 }),
            ("sentFields", changed { $0.sentFields = ["City"] }),
            ("sentPortals", changed { $0.sentPortals = ["Phones"] }),
            ("settledConflicts", changed { $0.settledConflicts = [conflict] }),
            (
                "newPortalRecordInfo",
                changed { $0.result.newPortalRecordInfo = [.init(tableName: "Phones", recordId: 1, modId: 0)] }
            ),
            ("scriptResponse", changed { $0.result.scriptResponse = .init(scriptResult: "done", scriptError: "0") }),
            ("refreshFailure", changed { $0.refreshFailure = FMRest.APIError(.network, reason: "The host is away.") }),
        ]
        expectNoDifference(others.filter { $0.1 == saved }.map(\.part), [])
    }

    @Test func messagesAndTheReasonOfAFailedReadMakeNone() {
        expectNoDifference(changed { $0.result.messages = [DataAPI.Message(code: "0", message: "OK")] }, saved)
        expectNoDifference(
            changed { $0.refreshFailure = FMRest.APIError(.network, reason: "The host is away.") },
            changed { $0.refreshFailure = FMRest.APIError(.timeout, reason: "The host is busy.") }
        )
    }
}

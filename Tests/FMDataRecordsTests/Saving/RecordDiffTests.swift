import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// The difference of two versions of a record, and how it is sent.
@Suite struct RecordDiffTests {
    private let base = RecordImage(
        ["Name": "Ada", "City": "London"],
        [RowImage(7, modId: 2, ["L::Kind": "work", "L::Count": 1]), RowImage(8, ["L::Kind": "home", "L::Count": 2])]
    )

    private func json(_ change: RecordDiff) -> String {
        String(decoding: change.wireOptions.json, as: UTF8.self)
    }

    @Test func rowsAreChangedAddedAndDeletedByTheirIds() throws {
        var mine = base
        mine.fields["City"] = "Paris"
        mine.portals[0].rows[0].fields["L::Count"] = .literal("1.0")
        mine.portals[0].rows[0].fields["L::Kind"] = "fax"
        mine.portals[0].rows[1] = RowImage(nil, ["L::Kind": "new", "L::Count": ""])
        let change = try RecordDiff(from: base, to: mine)
        expectNoDifference(
            change,
            RecordDiff(
                fields: ["City": "Paris"],
                rows: [.delete(8), .edit(7, modId: 2, ["L::Kind": "fax"]), .add(["L::Kind": "new"])]
            )
        )
        expectNoDifference(change.fieldNames, ["City", "L::Kind"])
        expectNoDifference(
            json(change),
            #"{"fieldData":{"City":"Paris","deleteRelated":["L.8"]},"#
                + #""portalData":{"L":[{"recordId":"7","modId":"2","L::Kind":"fax"},{"L::Kind":"new"}]}}"#
        )
    }

    @Test func theOrderOfRowsIsNoChange() throws {
        var mine = base
        mine.portals[0].rows.reverse()
        #expect(try RecordDiff(from: base, to: mine).isEmpty)
    }

    @Test func aPortalOfWhichNothingIsSaidIsLeftAlone() throws {
        var mine = base
        mine.portals = []
        #expect(try RecordDiff(from: base, to: mine).isEmpty)
        mine.portals = [PortalImage(name: "M", rows: [RowImage(nil, ["M::a": "1"])])]
        expectNoDifference(try RecordDiff(from: base, to: mine).rows, [.add(portal: "M", ["M::a": "1"])])
    }

    @Test func aNewRowWithoutAValueIsStillARow() throws {
        var mine = base
        mine.portals[0].rows.append(RowImage(nil, ["L::Kind": "", "L::Count": ""]))
        expectNoDifference(try RecordDiff(from: base, to: mine).rows, [.add(["L::Kind": "", "L::Count": ""])])
    }

    @Test func rowsThatCannotBeToldApartAreRefused() {
        func reason(_ change: (inout RecordImage, inout RecordImage) -> Void) -> String? {
            var (base, mine) = (base, base)
            change(&base, &mine)
            do throws(FMRest.APIError) {
                _ = try RecordDiff(from: base, to: mine)
                return nil
            } catch {
                expectNoDifference(error.code, .invalidRequest)
                expectNoDifference(error.portals, ["L"])
                return error.reason
            }
        }
        #expect(
            reason { _, mine in mine.portals[0].rows.append(mine.portals[0].rows[0]) }?.contains("same recordId")
                == true
        )
        #expect(
            reason { _, mine in mine.portals[0].rows.append(RowImage(99, ["L::Kind": "x"])) }?.contains("none that was")
                == true
        )
        let nameless = RowImage(nil, ["L::Kind": "x"])
        #expect(reason { base, _ in base.portals[0].rows = [nameless] }?.contains("no recordId") == true)
        // Such rows may be read and kept, as long as they do not change.
        #expect(
            reason { base, mine in
                base.portals[0].rows = [nameless]
                mine.portals[0].rows = [nameless]
            } == nil
        )
    }

    @Test func whatAProgramCannotSendTwice() {
        #expect(RecordDiff(fields: ["City": "a"]).isGuarded)
        #expect(!RecordDiff(fields: ["Country::Name": "a"]).isGuarded)
        #expect(!RecordDiff(rows: [.add(["L::Kind": "a"])]).isGuarded)
        #expect(RecordDiff(rows: [.edit(7, ["L::Kind": "a"])]).isGuarded)
        #expect(!RecordDiff(rows: [.edit(7, modId: nil, ["L::Kind": "a"])]).isGuarded)
    }

    @Test func imagesAreMadeOfTheProgramsTypes() throws {
        struct Person: Codable {
            var name = "Ada"
            var city: String?
            var marks = [1, 2]
        }
        struct Portals: Codable {
            var lines: [Line]?
            var rest: [[String: Int]]?

            struct Line: Codable {
                var recordId: String?
                var modId: Int?
                var kind: String
            }
        }
        func image(_ portals: Portals?, _ info: [DataAPI.PortalDataInfo]?) throws -> RecordImage {
            try RecordImage(fields: Person(), portals: portals, modId: 4, info: info, FMEncoder())
        }
        let lines = [Portals.Line(recordId: "12", modId: 3, kind: "a"), Portals.Line(kind: "b")]
        let info = DataAPI.PortalDataInfo(database: "", table: "lines", foundCount: 2, returnedCount: 2)
        expectNoDifference(
            try image(Portals(lines: lines), [info]),
            RecordImage(
                modId: 4,
                fields: ["name": "Ada", "city": "", "marks(1)": 1, "marks(2)": 2],
                portals: [
                    PortalImage(
                        name: "lines",
                        rows: [RowImage(12, modId: 3, ["kind": "a"]), RowImage(nil, ["kind": "b"])]
                    )
                ]
            )
        )
        // Without the portal's info there may be more rows.
        expectNoDifference(try image(Portals(lines: []), nil).portals.map(\.isWhole), [false])
        expectNoDifference(try image(nil, nil).portals, [])
    }

    @Test func anInstructionIsNoField() throws {
        struct Odd: Encodable { var deleteRelated = ["Phones.1"] }
        #expect(throws: FMRest.APIError.self) {
            try RecordImage(fields: Odd(), portals: nil as EmptyPortal?, modId: 0, info: nil, FMEncoder())
        }
    }
}

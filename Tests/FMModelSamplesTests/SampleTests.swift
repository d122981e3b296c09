import CustomDump
import FMData
import FMModelSamples
import FMTestSupport
import Foundation
import Testing

@testable import FMModel

/// From snapshots to Swift: the models that the plugin generates from the samples in each build, compiled and decoded.
@Suite struct SampleTests {
    private static let folder = "Tests/FMModelSamples/FileMaker"

    private static let types: [any LayoutRecord.Type] = [
        Contacts.self, Nothing.self, StringRecord.self, Order.self, Order_2.self, NoPortalsPostman2022.self,
        PortalsOfRelatedTables.self, VendorGuideValueLists.self, 顧客.self,
        Word.self,
    ]

    private func snapshots() throws -> [LayoutSnapshot] {
        try SnapshotFolder(reading: Committed.root.appendingPathComponent(Self.folder)).layouts
    }

    @Test func eachSnapshotIsTested() throws {
        expectNoDifference(
            Set(try snapshots().map(\.layout)),
            Set(Self.types.map { $0.layout })
        )
    }

    @Test func theBuildPluginWritesNothingIntoThePackage() throws {
        let folder = Committed.root.appendingPathComponent("Tests/FMModelSamples")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        expectNoDifference(names.sorted(), ["About.swift", "FileMaker"])
    }

    @Test(arguments: 0..<types.count) func aTypeReadsAndWritesItsLayout(_ index: Int) throws {
        let type = Self.types[index]
        let own = try snapshots().first { $0.layout == type.layout }
        let snapshot = try #require(own)
        try check(type, snapshot)
    }

    private func check<R: LayoutRecord>(_ type: R.Type, _ snapshot: LayoutSnapshot) throws {
        let row = try SampleRecord(snapshot.fields)
        let portals = try snapshot.portals.map { ($0.name, try SampleRecord($0.fields, isRow: true)) }
        let portalData = try portals.map { "\(try JSONString($0.0)): [\($0.1.read)]" }.joined(separator: ",")
        let answer = """
            {"response": {
                "dataInfo": {"database": "D", "layout": "L", "table": "T", "totalRecordCount": 1, "foundCount": 1, "returnedCount": 1},
                "data": [{"fieldData": \(row.read), "portalData": {\(portalData)}, "recordId": "1", "modId": "2"}]
            }, "messages": [{"code": "0", "message": "OK"}]}
            """
        let response = try FMDecoder().decodeAnswer(DataAPI.RecordResponse<R, R.Portals>.self, from: Array(answer.utf8))
        let record = try #require(response.data.first)

        // Each property has the value of its own field, since all values are different.
        expectNoDifference(Mirror(reflecting: record.fieldData).texts, row.texts)
        for (portal, sample) in zip(snapshot.portals, portals) {
            let rows = Mirror(reflecting: try #require(record.portalData)).children.first { $0.label == portal.swift }
            let first = try #require((rows?.value as? [Any])?.first)
            expectNoDifference(Mirror(reflecting: first).texts, ["recordId=7", "modId=8"] + sample.1.texts)
        }

        // Each value is written back under the same name, byte for byte, unless the host does not accept it.
        let written = String(decoding: try FMEncoder().encodeFields(record.fieldData), as: UTF8.self)
        expectNoDifference(Members(written).sorted, Members(row.written).sorted)
    }

    // MARK: Pitfalls, with hand-written values

    private func text(_ changes: some Encodable) throws -> String {
        String(decoding: try FMEncoder().encodeFields(changes), as: UTF8.self)
    }

    /// Pitfall 1.
    @Test func twoFormsOfOneTextAreTwoFields() throws {
        let contacts = try snapshots().first { $0.layout == "Contacts" }
        let snapshot = try #require(contacts)
        let names = snapshot.fields.map { Array($0.description.name.utf8) }
        expectNoDifference(Contacts.CodingKeys.allCases.map { Array($0.stringValue.utf8) }, names)
        #expect(Set(names).count == names.count)
    }

    /// Pitfall 3.
    @Test func checkBoxesAreAListThatKeepsWhatItDoesNotKnow() throws {
        let read = try FMDecoder().decodeFields(
            Boxes.self,
            from: Array(#"{"Boxes": "名前\rnone\rX", "Popup": "Q"}"#.utf8)
        )
        expectNoDifference(read.boxes.elements, [.名前, .noneValue, .init(rawValue: "X")])
        expectNoDifference(read.popup, Contacts.名前Values(rawValue: "Q"))
        expectNoDifference(try text(read), #"{"Boxes":"名前\rnone\rX","Popup":"Q"}"#)
        expectNoDifference(
            try text(Contacts.Changes(cCheckBox名前False1: read.boxes)),
            #"{"C checkBox 名前 false 1":"名前\rnone\rX"}"#
        )
        // An empty line counts as an element.
        let gap = try FMDecoder().decodeFields(Boxes.self, from: Array(#"{"Boxes": "名前\r\rX", "Popup": "Q"}"#.utf8))
        expectNoDifference(try text(gap), #"{"Boxes":"名前\r\rX","Popup":"Q"}"#)
        let nothing = try FMDecoder().decodeFields(Boxes.self, from: Array(#"{"Boxes": "", "Popup": ""}"#.utf8))
        expectNoDifference(nothing, Boxes(boxes: [], popup: nil))
    }

    private struct Boxes: Codable, Equatable {
        var boxes: FMList<Contacts.名前Values>
        var popup: Contacts.名前Values?

        enum CodingKeys: String, CodingKey {
            case boxes = "Boxes"
            case popup = "Popup"
        }
    }

    /// Pitfall 4.
    @Test func oneRepetitionIsWrittenAndTheOthersAreLeft() throws {
        expectNoDifference(try text(Contacts.Changes(fTextNormal31: [2: "b"])), #"{"F text normal 3 1(2)":"b"}"#)
        expectNoDifference(
            try text(Contacts.Changes(fNumberNormal52: [4: 4, 2: nil])),
            #"{"F number normal 5 2(2)":"","F number normal 5 2(4)":4}"#
        )
        // The only repetition on the layout is not the first one.
        expectNoDifference(try text(Contacts.Changes(fTextNormal53: "c")), #"{"F text normal 5 3(3)":"c"}"#)
    }

    @Test func nilLeavesAndSomeNilEmpties() throws {
        expectNoDifference(try text(Contacts.Changes()), "{}")
        expectNoDifference(
            try text(Contacts.Changes(name: "", fNumberNormal11: .some(nil))),
            #"{"Name":"","F number normal 1 1":""}"#
        )
    }

    @Test func rowsAreMadeAndEdited() throws {
        let rows = Contacts.Changes.Portals(
            contacts: [.init(name: "new"), .init(recordId: 7, modId: 8, recordIdField: "r", modIdField: "m")]
        )
        expectNoDifference(
            String(decoding: try FMEncoder().encodePortals(rows), as: UTF8.self),
            #"{"Contacts":[{"Phones::Name":"new"},"#
                + #"{"recordId":"7","modId":"8","Phones::recordId":"r","Phones::mod_id":"m"}]}"#
        )
    }

    @Test func globalsAreTextsByQualifiedName() {
        let globals = Contacts.Globals(
            cPopupMenu名前True1: .some(nil),
            cCheckBox名前True1: [.名前, .noneValue],
            cCheckBoxCodesTrue5: [2: ["a", "b"]]
        )
        expectNoDifference(
            globals.globalFields,
            [
                "Contacts::C popupMenu 名前 true 1": "", "Contacts::C checkBox 名前 true 1": "名前\rnone",
                "Contacts::C checkBox Codes true 5(2)": "a\rb",
            ]
        )
    }
}

import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMModel

/// Snapshots of layouts: equal layouts give the same text, and names are kept.
@Suite struct SnapshotTests {
    private var orders: LayoutDescription {
        LayoutDescription(
            name: "Orders",
            table: "Orders",
            fields: [
                .made("Number") { $0.isAutoEntered = true },
                .made("Total %") { $0.result = "number" },
                .made("Status") {
                    $0.display = "popupMenu"
                    $0.valueList = "Statuses"
                },
                .made("Marks") {
                    $0.result = "number"
                    $0.repetitions = 5
                    $0.shown = 2...4
                },
            ],
            portals: [.init(name: "Lines", fields: [.made("Lines::Article")])],
            valueLists: [
                .init(name: "Statuses", isCustom: true, values: ["open", "closed"]),
                .init(name: "Customers", isCustom: false, values: ["Ada Lovelace"]),
            ]
        )
    }

    private let text = """
        {
          "fields": [
            {"autoEnter": true, "name": "Number", "result": "text", "swift": "number"},
            {"name": "Total %", "result": "number", "swift": "total"},
            {"display": "popupMenu", "name": "Status", "result": "text", "swift": "status", "valueList": "Statuses"},
            {"name": "Marks", "repetitions": 5, "result": "number", "shown": [2, 4], "swift": "marks"}
          ],
          "format": 1,
          "layout": "Orders",
          "portals": [
            {
              "fields": [
                {"name": "Lines::Article", "result": "text", "swift": "article"}
              ],
              "name": "Lines",
              "swift": "lines",
              "swiftRow": "LinesRow"
            }
          ],
          "swift": "Order",
          "table": "Orders",
          "valueLists": [
            {
              "name": "Statuses",
              "swift": "Statuses",
              "values": [
                {"swift": "open", "value": "open"},
                {"swift": "closed", "value": "closed"}
              ]
            }
          ]
        }

        """

    private func snapshot(_ text: String) throws -> LayoutSnapshot {
        try LayoutSnapshot(reading: Data(text.utf8), file: "Orders.json")
    }

    /// The values of a list that comes from records are left out: they may be data of customers.
    @Test func itHasALineForEachField() {
        expectNoDifference(LayoutSnapshot.updating([], with: [orders]).layouts.map(\.fileText), [text])
    }

    @Test func itReadsWhatItWrites() throws {
        let read = try snapshot(text)
        expectNoDifference([read], LayoutSnapshot.updating([], with: [orders]).layouts)
        expectNoDifference(read.fileText, text)
    }

    @Test(arguments: 1...UInt64(Effort.of(30, brief: 5))) func anyNameComesBackByteForByte(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let update = LayoutSnapshot.updating([], with: (0..<3).map { _ in RandomNames.layout(using: &random) })
        for layout in update.layouts {
            let read = try snapshot(layout.fileText)
            #expect(read.fileText.utf8.elementsEqual(layout.fileText.utf8), "seed: \(seed)")
        }
    }

    @Test func fetchingAgainChangesNothing() throws {
        let first = LayoutSnapshot.updating([], with: [orders])
        expectNoDifference(LayoutSnapshot.updating(first.layouts, with: [orders]), first)
        expectNoDifference(LayoutSnapshot.updating(first.layouts, with: []), first)
    }

    @Test func whatAUserChoseStays() throws {
        let edited =
            text
            .replacingOccurrences(of: #""swift": "total""#, with: #""as": "Int", "swift": "percentage""#)
            .replacingOccurrences(of: #""swift": "Order""#, with: #""swift": "Purchase""#)
            .replacingOccurrences(of: #""swift": "LinesRow""#, with: #""swift": "OrderLine""#)
            .replacingOccurrences(of: #""swift": "closed""#, with: #""swift": "done""#)
        let old = try snapshot(
            edited.replacingOccurrences(of: #""swiftRow": "LinesRow""#, with: #""swiftRow": "Line""#)
        )
        var more = orders
        more.fields.insert(.made("Percentage"), at: 0)
        let new = LayoutSnapshot.updating([old], with: [more]).layouts[0]
        expectNoDifference(new.swift, "Purchase")
        expectNoDifference(new.fields.map(\.swift), ["percentage_2", "number", "percentage", "status", "marks"])
        expectNoDifference(new.fields.map(\.reading), [nil, nil, .int, nil, nil])
        expectNoDifference(new.portals.map(\.swiftRow), ["Line"])
        expectNoDifference(new.valueLists[0].values.map(\.swift), ["open", "done"])
    }

    /// Pitfall 5.
    @Test func aNewFieldRenamesNothing() {
        let first = LayoutSnapshot.updating([], with: [orders])
        var more = orders
        more.fields.insert(.made("Total") { $0.result = "number" }, at: 0)
        let second = LayoutSnapshot.updating(first.layouts, with: [more])
        expectNoDifference(second.layouts[0].fields.map(\.swift), ["total_2", "number", "total", "status", "marks"])
        expectNoDifference(second.notices, [#"Orders: "Total" is total_2: total is taken"#])
        expectNoDifference(
            SchemaChange.changes(from: first.layouts, to: second.layouts).map(\.text),
            [#"+ field "Total": number"#]
        )
    }

    // MARK: Unusual answers

    @Test func aFieldInSeveralPlacesIsOneField() {
        let twice = LayoutDescription(
            name: "Tabs",
            fields: [
                .made("Status") { $0.display = "popupMenu" },
                .made("Marks") {
                    $0.repetitions = 5
                    $0.shown = 1...2
                },
                .made("Status"),
                .made("Marks") {
                    $0.repetitions = 5
                    $0.shown = 4...5
                },
            ]
        )
        let update = LayoutSnapshot.updating([], with: [twice])
        expectNoDifference(update.layouts[0].fields.map(\.description.name), ["Status", "Marks"])
        expectNoDifference(update.layouts[0].fields[1].description.shown, 1...5)
        expectNoDifference(
            update.notices,
            [#"Tabs: the layout shows "Status" in several ways, of which the first one counts"#]
        )
    }

    /// Each fetch reports names that cannot be told apart by people or in an answer.
    @Test func twinsAreSaid() {
        let decomposed = "Cafe\u{301}"
        var twins = LayoutDescription(
            name: "Twins",
            fields: [
                .made("Phone") {
                    $0.repetitions = 3
                    $0.shown = 1...3
                },
                .made("Phone(2)"), .made("Phone(4)"), .made("Caf\u{E9}"), .made(decomposed),
            ],
            portals: [
                .init(name: "Caf\u{E9}", fields: [.made("X::a-b"), .made("X::a b")]),
                .init(name: decomposed, fields: []),
            ],
            valueLists: [.init(name: "List", isCustom: true, values: ["a b", "a-b"])]
        )
        twins.fields.append(
            .made("Choice") {
                $0.display = "popupMenu"
                $0.valueList = "List"
            }
        )
        twins.ambiguousPortals = ["Phones"]
        let first = LayoutSnapshot.updating([], with: [twins])
        let again = LayoutSnapshot.updating(first.layouts, with: [twins])
        let same = #""Cafe\u{301}" and "Café" look the same: they differ in their form in Unicode alone"#
        expectNoDifference(
            again.notices,
            [
                "Twins: several portals are called \"Phones\", of which answers have one; object names tell them apart",
                "Twins: portals \(same)", "Twins: fields \(same)",
                "Twins: field \"Phone(2)\" is called like repetition 2 of \"Phone\": an answer cannot tell them apart",
            ]
        )
        // Names that would be equal in Swift are reported when they are assigned.
        for notice in [
            #"portal "Café": "X::a-b" is aB_2: aB is taken"#, #"value list "List": "a-b" is aB_2: aB is taken"#,
        ] {
            #expect(first.notices.contains("Twins: \(notice)"), "\(first.notices)")
        }
    }

    @Test func layoutsThatLookTheSameAreSaid() {
        let layouts = ["Caf\u{E9}", "Cafe\u{301}"].map { LayoutDescription(name: $0, fields: []) }
        let update = LayoutSnapshot.updating([], with: layouts)
        #expect(
            update.notices.contains(
                #"layouts "Cafe\u{301}" and "Café" look the same: they differ in their form in Unicode alone"#
            ),
            "\(update.notices)"
        )
    }

    @Test func whatHasNoNameIsSkippedAndSaid() {
        let broken = LayoutDescription(
            name: "Broken",
            fields: [.made(""), .made("Name")],
            portals: [.init(name: "", fields: []), .init(name: "P", fields: [.made("")])]
        )
        let update = LayoutSnapshot.updating([], with: [broken])
        expectNoDifference(update.layouts[0].fields.map(\.swift), ["name"])
        expectNoDifference(update.layouts[0].portals.map(\.name), ["P"])
        expectNoDifference(
            update.notices,
            [
                "Broken: the layout shows a field without a name, which was deleted or is not for this account",
                #"Broken: portal "P" shows a field without a name, which was deleted or is not for this account"#,
            ]
        )
    }

    /// In an answer, such a field has the same name as the row's own id.
    @Test func aRowHasItsIdsForItself() {
        let portal = LayoutDescription.Portal(
            name: "P",
            fields: [.made("recordId"), .made("T::recordId"), .made("modId")]
        )
        let update = LayoutSnapshot.updating(
            [],
            with: [LayoutDescription(name: "Odd", fields: [.made("recordId")], portals: [portal])]
        )
        expectNoDifference(update.layouts[0].fields.map(\.swift), ["recordId"])
        expectNoDifference(update.layouts[0].portals[0].fields.map(\.swift), ["recordIdField"])
        expectNoDifference(
            update.notices,
            ["recordId", "modId"].map {
                #"Odd: portal "P" shows a field "\#($0)", by which an answer has the row's own id"#
            }
        )
    }

    @Test func aHyphenIsNoValue() {
        let layout = LayoutDescription(
            name: "L",
            fields: [
                .made("F") {
                    $0.display = "radioButtons"
                    $0.valueList = "V"
                }
            ],
            valueLists: [.init(name: "V", isCustom: true, values: ["a", "-", "", "a", "b"])]
        )
        let values = LayoutSnapshot.updating([], with: [layout]).layouts[0].valueLists[0].values
        expectNoDifference(values.map(\.value), ["a", "b"])
    }

    // MARK: Files edited by hand

    @Test(arguments: [
        (#""format": 1"#, #""format": 2"#, "format 2 is of another version of fmdata; this one reads 1"),
        (
            #""name": "Number""#, #""name": "Number", "asx": 1"#,
            #"fields[0]: unknown key "asx"; known are as, autoEnter, display, "#
        ),
        (
            #""swift": "number""#, #""as": "Integer", "swift": "number""#,
            #"fields[0].as: unknown type "Integer"; known are Int, "#
        ),
        (#""swift": "number""#, #""swift": "a b""#, #""a b" is no name for Swift"#),
        (#""swift": "number""#, #""swift": "init""#, #""Number" cannot be called init, which means something else"#),
        (#""swift": "article""#, #""swift": "modId""#, #""Lines::Article" cannot be called modId, "#),
        (#""swiftRow": "LinesRow""#, #""swiftRow": "CodingKeys""#, #""Lines" cannot be called CodingKeys, "#),
        (
            #""name": "Lines::Article""#, #""name": "modId""#,
            #"portal "Lines": "modId" is the row's own id and no field"#
        ),
        (#""swift": "number""#, #""swift": "total""#, #""Number" and "Total %" are both called total"#),
        (#""swift": "closed""#, #""swift": "open""#, #""open" and "closed" are both called open"#),
        (#""shown": [2, 4]"#, #""shown": [4, 2]"#, "expected the first and the last repetition, from 1 on"),
        (#""result": "number", "shown""#, #""result": 7, "shown""#, "fields[3].result: "),
        (#""fields": ["#, #""fields": [["#, "valid JSON"),
    ])
    func mistakesAreNamed(_ what: String, _ mistake: String, _ reason: String) throws {
        let error = try #require(throws: SnapshotError.self) {
            try snapshot(text.replacingOccurrences(of: what, with: mistake))
        }
        #expect(error.file == "Orders.json")
        #expect(error.reason.contains(reason), "\(error)")
    }

    /// `FMModelSamplesTests` compile and decode what is generated from these files.
    @Test func theSnapshotsOfHardNamesAreThoseOfTheirLayouts() throws {
        for layout in HardNames.snapshots {
            try Committed.expect(layout.fileText, in: "Tests/FMModelSamples/FileMaker/\(layout.swift).json")
        }
    }
}

extension FieldDescription {
    /// A field, made and changed in one expression.
    static func made(_ name: String, _ change: (inout FieldDescription) -> Void = { _ in }) -> FieldDescription {
        var field = FieldDescription(name)
        change(&field)
        return field
    }
}

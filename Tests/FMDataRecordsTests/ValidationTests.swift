import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// What is validated before a write is sent.
@Suite(.timeLimit(.minutes(15))) struct ValidationTests {
    private struct Person: LayoutRecord {
        static let layout = "People"
        static var readOnlyFields: [CodingKeys]? { [] }

        var name = ""
        var age = ""
        var born = ""
        var lunch = ""
        var seen = ""
        var size = ""

        enum CodingKeys: String, CodingKey {
            case name = "Name"
            case age = "Age"
            case born = "Born"
            case lunch = "Lunch"
            case seen = "Seen"
            case size = "Size"
        }

        struct Changes: RecordChanges {
            typealias Record = Person
            var name: String?
            var age: String?
            enum CodingKeys: String, CodingKey {
                case name = "Name"
                case age = "Age"
            }
        }
    }

    private static let people: Solution = {
        var solution = Solution(
            name: "People",
            tables: [
                .init(
                    name: "People",
                    fields: [
                        .init("Name", validation: .init(notEmpty: true, maxCharacters: 5)),
                        .init("Age", .number, validation: .init(numeric: true)), .init("Born", .date),
                        .init("Lunch", .time), .init("Seen", .timestamp), .init("Size"),
                    ],
                    records: [.init(["Name": "Ada", "Age": "36"])]
                )
            ],
            valueLists: [.init(name: "Sizes", values: ["S", "M", "L"])],
            layouts: [
                .layout(
                    .init(
                        name: "People",
                        table: "People",
                        fields: [
                            "Name", "Age", "Born", "Lunch", "Seen",
                            .init("Size", display: .popupMenu, valueList: "Sizes"),
                        ]
                    )
                )
            ]
        )
        solution.addJobs()
        return solution
    }()

    private func run(_ body: (DataAPI.TypedLayout<Person>, Sandbox) async throws -> Void) async throws {
        // The description of a layout is kept for a minute.
        try await Hosted.run(Self.people, clock: TestClock()) { database, sandbox in
            try await body(database.layout(Person.self), sandbox)
        }
    }

    private func names(_ sandbox: Sandbox) -> [String] {
        (sandbox.records(ofTable: "People", inDatabase: "People") ?? []).compactMap { $0.values["Name"] }.sorted()
    }

    private let wrong = Person(name: "", age: "old", born: "yesterday", lunch: "noon", seen: "never")

    // MARK: Rules of a model

    /// The rules that a generated type knows of its layout, without a request for the layout.
    private static func modelled(_ rules: inout DataAPI.ValidationRules<Person.CodingKeys>) {
        rules.followsLayout = false
        rules.require(.name)
        rules.requireNumber(.age)
        rules.requireFourDigitYear(.born)
        rules.requireTimeOfDay(.lunch)
        rules.limit(.size, toCharacters: 2)
    }

    @Test func rulesOfAModelAreCheckedWithoutARequest() async throws {
        try await run { people, sandbox in
            let checked = people.validating(Self.modelled)
            let wrong = Person(name: "", age: "12 or so", born: "1/2/03", lunch: "24:00:00", size: "XXL")
            let error = await checked.create(wrong).awaitSingleResult().failure
            expectNoDifference(
                error?.invalidValues,
                [
                    .init(field: "Name", rule: .required), .init(field: "Age", rule: .number),
                    .init(field: "Born", rule: .fourDigitYear), .init(field: "Lunch", rule: .timeOfDay),
                    .init(field: "Size", rule: .length(atMost: 2)),
                ]
            )
            expectNoDifference(sandbox.counters.requests, [:])
            let right = Person(name: "Eve", age: " 12.5", born: "1/2/2003", lunch: "23:59:59", size: "XL")
            _ = try await checked.create(right).firstValue()
            _ = try await checked.create(Person(name: "Mo")).firstValue()
            expectNoDifference(names(sandbox), ["Ada", "Eve", "Mo"])
            expectNoDifference(sandbox.counters.requests[.layoutMetadata], nil)
        }
    }

    // MARK: Rules of the layout

    @Test func oneErrorNamesAllFields() async throws {
        try await run { people, sandbox in
            let error = await people.validating().create(wrong).awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidValues)
            expectNoDifference(
                error?.invalidValues.map(\.description),
                [
                    #""Name" must not be empty"#, #""Age" must be a number"#, #""Born" must be a date"#,
                    #""Lunch" must be a time"#, #""Seen" must be a timestamp"#,
                ]
            )
            expectNoDifference(error?.fields, ["Name", "Age", "Born", "Lunch", "Seen"])
            expectNoDifference(error?.outcomeIsUnknown, false)
            expectNoDifference(error?.isRetryable, false)
            #expect(error?.description.contains("yesterday") == false)
            expectNoDifference(error?.request?.method, "POST")
            expectNoDifference(sandbox.counters.requests[.createRecord], nil)
            expectNoDifference(sandbox.counters.requests[.layoutMetadata], 1)
        }
    }

    @Test func everyWriteOfTheLayoutIsChecked() async throws {
        try await run { all, sandbox in
            let people = all.validating()
            let edit = await people.edit(1, setting: ["Name": ""]).awaitSingleResult().failure
            expectNoDifference(edit?.invalidValues, [.init(field: "Name", rule: .required)])
            let changes = await people.edit(1, setting: Person.Changes(age: "old")).awaitSingleResult().failure
            expectNoDifference(changes?.invalidValues, [.init(field: "Age", rule: .number)])
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.name = "Adalbert"
            let save = await people.save(draft).awaitSingleResult().failure
            expectNoDifference(save?.invalidValues, [.init(field: "Name", rule: .length(atMost: 5))])
            let upsert = await people.upsert(Person(name: "Ben", age: "old"), by: .name).awaitSingleResult().failure
            expectNoDifference(upsert?.fields, ["Age"])
            let untyped = await people.layout.createRecord(["Name": "Ben", "Age": "old"]).awaitSingleResult().failure
            expectNoDifference(untyped?.fields, ["Age"])
            expectNoDifference(names(sandbox), ["Ada"])
            expectNoDifference(sandbox.counters.requests[.editRecord], nil)
            expectNoDifference(sandbox.counters.requests[.createRecord], nil)
            // Valid values are sent, and fields that are not written are not checked.
            _ = try await people.edit(1, setting: ["Age": 37]).firstValue()
            _ = try await people.create(Person(name: "Ben", age: "1e3")).firstValue()
            expectNoDifference(names(sandbox), ["Ada", "Ben"])
            // A layout without `validating()` checks nothing; the host does.
            let error = await all.create(Person(name: "")).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, 509)
        }
    }

    @Test func rowsOfABatchAreRefusedWithoutARequest() async throws {
        try await run { all, sandbox in
            let people = all.validating()
            let rows = [
                Person(name: "Ben"), Person(name: "Clementine"), Person(name: "Dora", age: "x"), Person(name: "Eve"),
            ]
            let done = try await people.writing(rows.map { .create($0) }, options: .init(order: .input)).outcome().get()
            expectNoDifference(
                done.map(\.short),
                ["0 created", "1 failed invalidValues", "2 failed invalidValues", "3 created"]
            )
            expectNoDifference(sandbox.counters.requests[.createRecord], 2)
            expectNoDifference(sandbox.counters.requests[.layoutMetadata], 1)

            let script = DataAPI.CommitScript("Run Job", in: people.layout.database.addLayout("Jobs"))
            let writes: [DataAPI.RecordWrite<Person>] = [
                .create(Person(name: "Fay")), .edit(1, setting: ["Age": "x"]), .delete(99),
            ]
            let atomic = try await people.writing(writes, committing: script).outcome().get()
            expectNoDifference(
                atomic.map(\.short),
                ["0 failed rolledBack", "1 failed invalidValues", "2 failed rolledBack"]
            )
            expectNoDifference(sandbox.counters.requests[.createRecord], 2)
            let alone = try await people.writing(writes.prefix(2), committing: script, options: .init(isAtomic: false))
                .outcome().get()
            expectNoDifference(alone.map(\.short), ["0 created", "1 failed invalidValues"])
            expectNoDifference(names(sandbox), ["Ada", "Ben", "Eve", "Fay"])
        }
    }

    @Test func aWriteAsAScriptIsNotChecked() async throws {
        try await run { people, _ in
            var record = DataAPI.EditRecord(createRecord: ["Name": "Clementine"] as FieldData)
            record.options = .init(entryMode: .script)
            _ = try await people.validating().layout.createRecord(record: record).firstValue()
        }
    }

    @Test func valueListsAreFollowedOnRequest() async throws {
        try await run { people, _ in
            _ = try await people.validating().create(Person(name: "Ben", size: "XL")).firstValue()
            let strict = people.validating { $0.followsValueLists = true }
            let error = await strict.create(Person(name: "Cy", size: "XL")).awaitSingleResult().failure
            expectNoDifference(error?.invalidValues, [.init(field: "Size", rule: .listed)])
            _ = try await strict.create(Person(name: "Dora", size: "m")).firstValue()
        }
    }

    // MARK: The program's own rules

    @Test func aProgramHasRulesOfItsOwn() async throws {
        try await run { people, sandbox in
            let checked = people.validating {
                $0.followsLayout = false
                $0.require(.name)
                $0.limit(.age, to: 0...150)
                $0.limit(.size, to: ["S", "M"])
                $0.limit(.name, toCharacters: 4)
            }
            .validating {
                $0.followsLayout = false
                $0.check(.name, "must begin with a capital") { $0.text.first?.isUppercase == true }
            }
            func broken(_ person: Person, _ expected: [String]?) async {
                let error = await checked.create(person).awaitSingleResult().failure
                expectNoDifference(error?.invalidValues.map(\.description), expected)
            }
            await broken(Person(), [#""Name" must not be empty"#])
            await broken(
                Person(name: "benny", age: "151", size: "s\rXL"),
                [
                    #""Age" must be from 0 to 150"#, #""Size" must be a value of the list"#,
                    #""Name" must have at most 4 characters"#, #""Name" must begin with a capital"#,
                ]
            )
            await broken(Person(name: "Ben", age: "young"), [#""Age" must be from 0 to 150"#])
            expectNoDifference(sandbox.counters.requests[.createRecord], nil)
            await broken(Person(name: "Ben", age: "150", size: "m"), nil)
            // An edit is not checked for the fields that it does not set.
            _ = try await checked.edit(1, setting: ["Age": 40]).firstValue()
            expectNoDifference(sandbox.counters.requests[.layoutMetadata], nil)
        }
    }

    // MARK: Not stricter than FileMaker

    /// Every value that is refused here is refused by the host as well.
    @Test func whatIsRefusedTheHostWouldRefuse() async throws {
        var random = SeededRandom(seed: 31)
        let texts = [
            "", " ", "0", "12", "-3.5", "1e3", "x", "12 x", "1/2", "1/2/24", "01/02/2024", "13/45/2024", "2024-01-02",
            "02/30/2024", "10", "10:30", "25:00:00", "10:30:15.5", "-1:00:00", "01/02/2024 10:30:15",
            "01/02/2024 10:30",
            "01/02/2024", "tomorrow", "1.2.2024", "١٢", "1 000", "Adalbert", "Ada", "１２",
        ]
        try await run { people, sandbox in
            let checked = people.validating()
            for _ in 0..<Effort.of(400, brief: 40) {
                func text() -> String { texts.randomElement(using: &random) ?? "" }
                let person = Person(name: text(), age: text(), born: text(), lunch: text(), seen: text())
                guard let error = await checked.create(person).awaitSingleResult().failure else { continue }
                for value in error.invalidValues {
                    // The value is sent alone, beside a valid name.
                    var alone: FieldData = ["Name": "Ada"]
                    let fields = try people.wireFields(of: person)
                    alone[value.field] = fields[value.field]
                    let answer = await people.layout.createRecord(alone).awaitSingleResult().failure
                    #expect(
                        answer?.fileMakerCode != nil,
                        "the host takes \(fields[value.field]?.text ?? "nothing") for \(value.field)"
                    )
                }
            }
        }
    }
}

import CustomDump
import FMData
import NIOHTTP1
import Testing

@testable import FMDataCore

/// Which fields and portals of a request an error of FileMaker can be about, judged from the request and the layout.
@Suite struct FieldSuspicionRuleTests {
    private typealias Request = DataAPIRequest<FMRest.EmptyResponse>
    private typealias MetaData = DataAPI.Layout.LayoutMetaData
    private typealias Field = DataAPI.Layout.LayoutMetaData.FieldMetaData

    // MARK: Requests and layouts

    /// A request that writes fields, sorted by their names.
    ///
    /// - Parameters:
    ///   - fields: the fields and their values.
    ///   - row: the fields of a new row in the portal "Lines".
    ///   - portals: the portals that are asked for.
    ///   - responseLayout: the layout that shapes the answer.
    private static func request(
        _ fields: [String: String] = [:],
        row: [String: String] = [:],
        portals: [String] = [],
        responseLayout: String? = nil,
        isCreate: Bool = true
    ) -> Request {
        var options: [WireOption] = .shown("layout.response", responseLayout)
        if !fields.isEmpty {
            options.append(
                WireOption(name: "fieldData", value: .object(fields), disclosure: .hidden, names: .fields)
            )
        }
        if !row.isEmpty {
            let rows = WireValue.Member(name: "Lines", value: .array([.object(row)]))
            options.append(
                WireOption(name: "portalData", value: .object([rows]), disclosure: .hidden, names: .portalRows)
            )
        }
        if !portals.isEmpty {
            options.append(
                WireOption(name: "portal", value: .texts(portals), disclosure: .shown, names: .portals)
            )
        }
        return Request(
            method: isCreate ? .POST : .PATCH,
            path: .records(of: "People", in: "Harbor"),
            options: options,
            body: .json
        )
    }

    private static func sending(_ names: [String]) -> Request {
        request(Dictionary(uniqueKeysWithValues: names.map { ($0, "a") }))
    }

    private static func field(
        _ name: String,
        _ result: Field.CalcResult = .text,
        type: Field.FieldType = .normal,
        change: (inout Field) -> Void = { _ in }
    ) -> Field {
        var field = Field(
            name: name,
            type: type,
            result: result,
            global: false,
            autoEnter: false,
            fourDigitYear: false,
            maxRepeat: 1,
            notEmpty: false,
            numeric: false,
            timeOfDay: false
        )
        change(&field)
        return field
    }

    private static func required(_ name: String) -> Field { field(name) { $0.notEmpty = true } }

    /// A layout with a field of each kind, and a portal.
    private static let people = MetaData(
        fieldMetaData: [
            field("Name"), field("Total", .number, type: .calculation), field("Born", .date), field("Lunch", .time),
            field("Seen", .timeStamp), field("Size", .number), field("Code") { $0.numeric = true },
            field("Colour") { $0.valueList = "Colours" }, field("Short") { $0.maxCharacters = 5 },
            field("Free") { $0.maxCharacters = 0 },
        ],
        portalMetaData: ["Lines": [field("Lines::Price", .number)]]
    )

    private static func error(_ code: FileMakerErrorCode?) -> FMRest.APIError {
        FMRest.APIError(.fileMaker, reason: "Refused", fileMakerCode: code)
    }

    private static func isSuspected(_ code: FileMakerErrorCode?, _ request: Request) -> Bool {
        FieldSuspicion(error(code), about: request) != nil
    }

    private func explained(
        _ code: FileMakerErrorCode,
        _ request: Request,
        _ layout: MetaData = Self.people
    ) throws -> FMRest.APIError {
        try #require(FieldSuspicion(Self.error(code), about: request)).explained(by: .layout(layout))
    }

    // MARK: What is suspected

    @Test(
        arguments: [
            (102, true), (201, true), (500, true), (509, true), (511, true), (513, true), (512, false), (101, false),
            (104, false), (105, false), (306, false), (401, false), (nil, false),
        ] as [(FileMakerErrorCode?, Bool)]
    )
    func onlyAnErrorAboutAFieldIsLookedInto(code: FileMakerErrorCode?, isAboutFields: Bool) {
        expectNoDifference(Self.isSuspected(code, Self.sending(["Name"])), isAboutFields)
    }

    @Test func aRequestThatNamesNothingCanOnlyLackAValue() {
        expectNoDifference(Self.isSuspected(.fieldMissing, Self.request()), false)
        expectNoDifference(Self.isSuspected(.valueNotUnique, Self.request()), false)
        expectNoDifference(Self.isSuspected(.valueRequired, Self.request()), true)
        // An edit changes only what it sends.
        expectNoDifference(Self.isSuspected(.valueRequired, Self.request(isCreate: false)), false)
        // A portal can be missing, but no value of it can be invalid.
        expectNoDifference(Self.isSuspected(.fieldMissing, Self.request(portals: ["Lines"])), true)
        expectNoDifference(Self.isSuspected(.dateInvalid, Self.request(portals: ["Lines"])), false)
        var elsewhere = Self.sending(["Name"])
        elsewhere.path = .database("Harbor")
        expectNoDifference(Self.isSuspected(.fieldMissing, elsewhere), false)
    }

    @Test func theLayoutThatHasTheFieldsIsAskedFor() {
        func question(_ request: Request) -> FileQuestion? {
            FieldSuspicion(Self.error(.fieldMissing), about: request)?.question
        }
        expectNoDifference(question(Self.sending(["Name"])), .layout("People"))
        expectNoDifference(question(Self.request(portals: ["Lines"])), .layout("People"))
        expectNoDifference(question(Self.request(portals: ["Lines"], responseLayout: "Cards")), .layout("Cards"))
        expectNoDifference(
            question(Self.request(["Name": "a"], portals: ["Lines"], responseLayout: "Cards")),
            .layout("People")
        )
    }

    // MARK: Which field it is

    @Test(
        arguments: [
            (201, ["Name", "Total"], ["Total"]),
            (500, ["Name", "Born", "Lunch", "Seen"], ["Born", "Seen"]),
            (501, ["Name", "Born", "Lunch", "Seen"], ["Lunch", "Seen"]),
            (502, ["Name", "Born", "Code", "Size"], ["Code", "Size"]),
            (506, ["Name", "Colour"], ["Colour"]),
            (508, ["Name", "Born", "Size"], ["Born", "Size"]),
            (511, ["Name", "Short", "Free"], ["Short"]),
            (504, ["Name", "Total"], ["Name"]),
            // Spelled otherwise, one repetition, one row.
            (500, ["Name", "born(2)"], ["born(2)"]),
            (502, ["Name", "Lines::Price.17"], ["Lines::Price.17"]),
            // Of a field that the layout does not show, nothing is known.
            (502, ["Name", "Hidden"], ["Hidden"]),
        ] as [(FileMakerErrorCode, [String], [String])]
    )
    func aCodeIsAboutFieldsOfCertainKinds(code: FileMakerErrorCode, sent: [String], fields: [String]) throws {
        expectNoDifference(try explained(code, Self.sending(sent)).fields, fields)
    }

    @Test(
        arguments: [
            (["A"], ["A"], #"the field is "A"."#),
            (["A", "B", "C"], ["A", "B", "C"], #"the field is one of "A", "B", "C"."#),
            (["A", "B", "C", "D"], [], "the layout's metadata do not tell which of 4 fields is meant."),
        ] as [([String], [String], String)]
    )
    func moreThanThreeFieldsAreNotNamed(sent: [String], fields: [String], sentence: String) throws {
        let error = try explained(.valueNotUnique, Self.sending(sent))
        expectNoDifference(error.fields, fields)
        expectNoDifference(error.reason, "Refused: " + sentence)
    }

    @Test(
        arguments: [
            (["Name", "Nmae"], ["Nmae"], #"Refused: "Nmae" is not on layout "People"."#),
            (["P", "Q", "R", "S"], ["P", "Q", "R", "S"], #"Refused: "P", "Q", "R", "S" are not on layout "People"."#),
            (["Name(3)", "Lines::Price.17"], [], "Refused"),
            // Where all are there, a host may tell upper from lower case.
            (["NAME(3)", "Born"], ["NAME(3)"], #"Refused: "NAME(3)" is not on layout "People"."#),
            (["NAME", "Nmae"], ["Nmae"], #"Refused: "Nmae" is not on layout "People"."#),
        ] as [([String], [String], String)]
    )
    func whatIsMissingIsNotOnTheLayout(sent: [String], fields: [String], reason: String) throws {
        let error = try explained(.fieldMissing, Self.sending(sent))
        expectNoDifference(error.fields, fields)
        expectNoDifference(error.reason, reason)
    }

    @Test(
        arguments: [
            ("Price", "Price"), ("Price(2)", "Price"), ("Lines::Price.17", "Lines::Price"),
            ("Lines::Price(2).17", "Lines::Price"), ("Price(x)", "Price(x)"), ("Price()", "Price()"),
            ("Price.", "Price."), ("Price.a1", "Price.a1"), ("(2", "(2"), ("Price(\u{662})", "Price(\u{662})"),
        ]
    )
    func aPlainNameHasNoRepetitionAndNoRow(name: String, plain: String) {
        expectNoDifference(DataAPIName.plain(name), plain)
    }

    /// A required field is at fault if it was sent empty or, in a new record, not at all.
    @Test func aRequiredFieldIsOneThatWasSentEmptyOrNotAtAll() throws {
        let layout = MetaData(
            fieldMetaData: [
                Self.required("Name"), Self.required("City"), Self.required("Code"), Self.required("Area"),
                Self.required("Lines::Kind"), Self.field("Note"),
            ],
            portalMetaData: ["Lines": [Self.required("Lines::Kind")]]
        )
        func fields(_ request: Request) throws -> [String] { try explained(.valueRequired, request, layout).fields }
        expectNoDifference(try fields(Self.request()), ["Area", "City", "Code", "Name"])
        let sent = ["Name": "", "City": "Kiel", "Code": "K", "Area": "N", "Note": ""]
        expectNoDifference(try fields(Self.request(sent)), ["Name"])
        // Fields of a row count only if the row is sent.
        expectNoDifference(try fields(Self.request(sent, row: ["Lines::Kind": ""])), ["Lines::Kind", "Name"])
        // One repetition is enough.
        let repetitions = sent.merging(["Name(2)": "a"]) { first, _ in first }
        expectNoDifference(try fields(Self.request(repetitions)), [])
    }

    @Test func aDateThatWasWrittenAsATimestampIsPointedOut() throws {
        func hint(_ field: String, _ value: String) throws -> String? {
            try explained(.dateInvalid, Self.request([field: value])).hint
        }
        expectNoDifference(try hint("Born", "01/05/2024 10:00:00")?.contains("FMDate"), true)
        expectNoDifference(try hint("Born", "13/31/2024"), nil)
        expectNoDifference(try hint("Seen", "01/05/2024 10:00:00"), nil)
    }

    // MARK: Which portal it is

    @Test func aPortalThatIsNotOnTheLayoutIsNamed() throws {
        let error = try explained(.fieldMissing, Self.request(portals: ["lines", "Notes"]))
        expectNoDifference(error.portals, ["Notes"])
        expectNoDifference(
            error.reason,
            #"Refused: portal "Notes" is not on layout "People", which has "Lines"."#
        )
        expectNoDifference(try explained(.fieldMissing, Self.request(portals: ["Lines"])).portals, [])
    }

    /// FileMaker Server 17 says nothing about portals, and the metadata of another layout are not asked for.
    @Test func portalsThatNothingIsKnownOfAreNamedUnlessAFieldIsMissing() throws {
        let old = MetaData(fieldMetaData: Self.people.fieldMetaData)
        let unknown = try explained(.fieldMissing, Self.request(["Name": "a"], portals: ["Lines", "Notes"]), old)
        expectNoDifference(unknown.portals, ["Lines", "Notes"])
        expectNoDifference(unknown.reason, #"Refused: portals "Lines", "Notes" are not on layout "People"."#)
        let field = try explained(.fieldMissing, Self.request(["Nmae": "a"], portals: ["Lines"]), old)
        expectNoDifference(field.portals, [])

        let elsewhere = Self.request(["Name": "a"], portals: ["Lines"], responseLayout: "Cards")
        expectNoDifference(try explained(.fieldMissing, elsewhere).portals, ["Lines"])
        expectNoDifference(
            try explained(.fieldMissing, elsewhere).reason,
            #"Refused: the layout "Cards" may lack portal "Lines"."#
        )
        let both = Self.request(["Nmae": "a"], portals: ["Lines"], responseLayout: "Cards")
        expectNoDifference(try explained(.fieldMissing, both).portals, [])
    }

    // MARK: Without the layout

    @Test func withoutAnAnswerOnlyPortalsThatAreAloneAreNamed() throws {
        func unexplained(_ request: Request) throws -> [FMRest.APIError] {
            let suspicion = try #require(FieldSuspicion(Self.error(.fieldMissing), about: request))
            return [suspicion.unexplained, suspicion.explained(by: .names(["Lines"]))]
        }
        for error in try unexplained(Self.request(portals: ["Lines", "Notes"])) {
            expectNoDifference(error.portals, ["Lines", "Notes"])
            expectNoDifference(error.reason, #"Refused: the request asks for portals "Lines", "Notes"."#)
        }
        for error in try unexplained(Self.request(["Name": "a"], portals: ["Lines"])) {
            expectNoDifference(error.portals, [])
            expectNoDifference(error.reason, "Refused")
        }
    }
}

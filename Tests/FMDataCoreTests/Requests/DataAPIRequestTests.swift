import CustomDump
import FMData
import FMHTTP
import Foundation
import NIOCore
import Testing

@testable import FMDataCore

/// The request of each endpoint as a value, without a server.
@Suite struct DataAPIRequestTests {
    let layout = DataAPI.Server(host: "fms.example.com").addDatabase("Harbor").addLayout("Vessels/api")

    typealias Records = DataAPI.RecordResponse<[String: String], EmptyPortal>

    @Test func range() throws {
        let request: DataAPIRequest<Records> = try .records(
            of: layout,
            query: RecordQuery(
                script: ScriptQuery(script: "After", scriptParam: "a&b", scriptPreRequest: "Before"),
                layoutResponse: "Other",
                portal: [PortalRequest(name: "My \"Portal\"", limit: 5, offset: 2), PortalRequest(name: "B")],
                offset: 11,
                limit: 10,
                sortOrder: [
                    SortQuery(fieldName: "Na\"me"), SortQuery(fieldName: "Day", sortOrder: .valueList("Weekdays")),
                ]
            )
        )
        expectNoDifference(request.method, .GET)
        expectNoDifference(
            request.query.map { [$0.nameInURL, $0.textInURL] },
            [
                ["_offset", "11"], ["_limit", "10"],
                [
                    "_sort",
                    #"[{"fieldName":"Na\"me","sortOrder":"ascend"},{"fieldName":"Day","sortOrder":"Weekdays"}]"#,
                ],
                ["portal", #"["My \"Portal\"","B"]"#],
                ["_offset.My \"Portal\"", "2"], ["_limit.My \"Portal\"", "5"],
                ["layout.response", "Other"],
                ["script.prerequest", "Before"], ["script", "After"], ["script.param", "a&b"],
            ]
        )
        #expect(!request.isSafeToRepeat, "a script may have run")
        expectNoDifference(request.namedFields.map(\.name), ["Na\"me", "Day"])
    }

    @Test func rangeWithoutOptionsSendsNoDefaults() throws {
        let request: DataAPIRequest<Records> = try .records(of: layout, query: RecordQuery())
        expectNoDifference(try request.encodedTarget(), "/databases/Harbor/layouts/Vessels%2Fapi/records")
        #expect(request.isSafeToRepeat)
    }

    @Test func noPortalsIsAnEmptyList() throws {
        let request: DataAPIRequest<Records> = try .records(of: layout, query: RecordQuery(portal: []))
        expectNoDifference(try request.encodedTarget(), "/databases/Harbor/layouts/Vessels%2Fapi/records?portal=%5B%5D")
    }

    @Test func find() throws {
        let request: DataAPIRequest<Records> = try .find(
            in: layout,
            query: FindQuery(
                query: [["Name": "Mor*"], ["Status": "x", "omit": "true"]],
                sort: [SortQuery(fieldName: "Name")],
                script: ScriptQuery(scriptPreSort: "Between", scriptPreSortParam: "p"),
                offset: 2,
                limit: 25,
                layoutResponse: "List",
                portal: [PortalRequest(name: "inspections", limit: 5)]
            )
        )
        expectNoDifference(request.method, .POST)
        expectNoDifference(try request.encodedTarget(), "/databases/Harbor/layouts/Vessels%2Fapi/_find")
        expectNoDifference(
            request.bodyText,
            #"{"layout.response":"List","limit":"25","limit.inspections":"5","offset":"2","portal":["inspections"],"#
                + #""query":[{"Name":"Mor*"},{"Status":"x","omit":"true"}],"script.presort":"Between","#
                + #""script.presort.param":"p","sort":[{"fieldName":"Name","sortOrder":"ascend"}]}"#
        )
        expectNoDifference(request.namedFields.map(\.name), ["Name", "Status"])
        #expect(!request.isSafeToRepeat)
    }

    @Test func create() throws {
        var record = EditRecord(createRecord: ["Name": "Selene"], portalData: ["inspections": [["I::Result": "ok"]]])
        record.options = .init(entryMode: .script, prohibitMode: .user)
        let request: DataAPIRequest<DataAPI.CreateResponse> = try .create(in: layout, record: record)
        expectNoDifference(request.method, .POST)
        expectNoDifference(
            try request.bodyJSON,
            [
                "fieldData": ["Name": "Selene"],
                "portalData": ["inspections": [["I::Result": "ok"]]],
                "options": ["entrymode": "script", "prohibitmode": "user"],
            ] as NSDictionary
        )
    }

    @Test func aWriteNamesWhatItWritesToTheRecordAndToPortalRows() throws {
        var record = EditRecord(
            editRecord: ["Name": "Selene", "Flag": ""],
            portalData: [
                "inspections": [["recordId": "3", "modId": "1", "I::Result": "ok"], ["I::Day": "01/31/2025"]]
            ]
        )
        record.deleteRelated = [.init(portal: "inspections", recordId: 311)]
        let request: DataAPIRequest<DataAPI.EditRecordResponse> = try .edit(17, of: layout, record: record)
        expectNoDifference(
            request.namedFields,
            [
                NamedField(name: "Flag", isEmpty: true), NamedField(name: "Name"), NamedField(name: "I::Result"),
                NamedField(name: "I::Day"),
            ]
        )
        expectNoDifference(request.layout, "Vessels/api")
    }

    @Test func globalsAreNamedAndBelongToNoLayout() throws {
        let request: DataAPIRequest<FMRest.EmptyResponse> = try .setGlobals(["V::b": "x", "V::a": "y"], in: "Harbor")
        expectNoDifference(request.namedFields.map(\.name), ["V::a", "V::b"])
        expectNoDifference(request.layout, nil)
    }

    @Test func emptyRecordIsAnEmptyObject() throws {
        let request: DataAPIRequest<DataAPI.CreateResponse> = try .create(
            in: layout,
            record: EditRecord(createRecord: EmptyPortal())
        )
        expectNoDifference(request.bodyText, #"{"fieldData":{}}"#)
    }

    @Test func editSendsModIdAsTextAndDeletionsInsideFieldData() throws {
        var record = EditRecord(editRecord: ["Length": "12"], modId: 5)
        record.deleteRelated = [
            .init(portal: "inspections", recordId: 311), .init(portal: "inspections", recordId: 312),
        ]
        let request: DataAPIRequest<DataAPI.EditRecordResponse> = try .edit(17, of: layout, record: record)
        expectNoDifference(request.method, .PATCH)
        expectNoDifference(
            try request.bodyJSON,
            [
                "fieldData": ["Length": "12", "deleteRelated": ["inspections.311", "inspections.312"]], "modId": "5",
            ] as NSDictionary
        )
        #expect(!request.isSafeToRepeat)
    }

    @Test func duplicateAlwaysHasABody() throws {
        let request: DataAPIRequest<DataAPI.CreateResponse> = .duplicate(17, of: layout, script: nil)
        expectNoDifference(request.bodyText, "{}")
    }

    @Test func globalsAreWrapped() throws {
        let request: DataAPIRequest<FMRest.EmptyResponse> = try .setGlobals(["V::g(2)": "x"], in: "Harbor")
        expectNoDifference(request.method, .PATCH)
        expectNoDifference(try request.encodedTarget(), "/databases/Harbor/globals")
        expectNoDifference(request.bodyText, #"{"globalFields":{"V::g(2)":"x"}}"#)
    }

    @Test func loginSendsDataSources() throws {
        let request: DataAPIRequest<LoginResponse> = .logIn(
            to: "Harbor",
            as: Credentials(user: "u", password: "p"),
            dataSources: FMDataSourceAuth(fmDataSource: [
                .init(database: "A", credentials: .basic(user: "u", password: "p")),
                .init(database: "B", credentials: .oAuth(requestId: "r", identifier: "i")),
            ])
        )
        expectNoDifference(
            try request.bodyJSON,
            [
                "fmDataSource": [
                    ["database": "A", "username": "u", "password": "p"],
                    ["database": "B", "oAuthRequestId": "r", "oAuthIdentifier": "i"],
                ]
            ] as NSDictionary
        )
        let plain: DataAPIRequest<LoginResponse> = .logIn(
            to: "Harbor",
            as: Credentials(clarisId: "t"),
            dataSources: nil
        )
        expectNoDifference(plain.bodyText, "{}")
    }

    @Test func aSummaryHidesTheTokenOfALogOut() {
        let request: DataAPIRequest<FMRest.EmptyResponse> = .logOut(of: "Harbor", token: SessionToken("t0ken"))
        let summary = request.summary(at: Origin(scheme: .https, host: "fms.example.com"))
        expectNoDifference(summary.path, "/databases/Harbor/sessions/••••")
        #expect(!"\(summary)".contains("t0ken"))
    }

    @Test func badCountsAreRefusedBeforeAnythingIsSent() {
        #expect(throws: FMRest.APIError.self) {
            let _: DataAPIRequest<Records> = try .records(of: layout, query: RecordQuery(offset: 0))
        }
        #expect(throws: FMRest.APIError.self) {
            let _: DataAPIRequest<Records> = try .find(in: layout, query: FindQuery(query: [["a": "b"]], limit: -1))
        }
        #expect(throws: FMRest.APIError.self) {
            let _: DataAPIRequest<Records> = try .find(in: layout, query: FindQuery(query: []))
        }
        #expect(throws: FMRest.APIError.self) {
            let _: DataAPIRequest<Records> = try .record(1, of: layout, query: RecordQuery(limit: 1))
        }
        #expect(throws: FMRest.APIError.self) {
            let _: DataAPIRequest<FMRest.EmptyResponse> = try .setGlobals(["unqualified": "x"], in: "Harbor")
        }
    }
}

extension DataAPIRequest {
    /// The body of a JSON request, as it is sent.
    var bodyText: String? {
        if case .json = body { String(decoding: options.json, as: UTF8.self) } else { nil }
    }

    fileprivate var bodyJSON: NSDictionary? {
        get throws {
            try bodyText.flatMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary }
        }
    }
}

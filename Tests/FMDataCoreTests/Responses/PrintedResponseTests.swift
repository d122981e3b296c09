import CustomDump
import FMData
import Testing

/// Responses print their public properties, and nothing of how they keep them.
@Suite struct PrintedResponseTests {
    private static let messages = [DataAPI.Message(code: "0", message: "OK")]

    private func printed<Response>(
        _ response: Response,
        _ messages: WritableKeyPath<Response, [DataAPI.Message]>
    ) -> String {
        var response = response
        response[keyPath: messages] = Self.messages
        var dumped = ""
        dump(response, to: &dumped)
        #expect(!dumped.contains("uncompared"))
        expectNoDifference(Array(Mirror(reflecting: response).children).last?.label, "messages")
        return "\(response)"
    }

    @Test func aResponseShowsItsPropertiesAndItsMessages() {
        expectNoDifference(printed(FMRest.EmptyResponse(), \.messages), "EmptyResponse(messages: [0: OK])")
        expectNoDifference(
            printed(DataAPI.UploadResponse(modId: 3), \.messages),
            "UploadResponse(modId: Optional(3), messages: [0: OK])"
        )
        expectNoDifference(
            printed(DataAPI.CreateResponse(recordId: 7, modId: 0), \.messages),
            "CreateResponse(recordId: 7, modId: Optional(0), newPortalRecordInfo: [], scriptResponse: nil, "
                + "messages: [0: OK])"
        )
        expectNoDifference(
            printed(DataAPI.EditRecordResponse(recordId: 7, modId: 4), \.messages),
            "EditRecordResponse(recordId: Optional(7), modId: 4, newPortalRecordInfo: [], scriptResponse: nil, "
                + "messages: [0: OK])"
        )
        expectNoDifference(
            printed(DataAPI.Database.DatabaseListResponse(databases: []), \.messages),
            "DatabaseListResponse(databases: [], messages: [0: OK])"
        )
        expectNoDifference(
            printed(DataAPI.Layout.LayoutMetaData(fieldMetaData: []), \.messages),
            "LayoutMetaData(fieldMetaData: [], portalMetaData: [:], ambiguousPortals: [], valueLists: nil, "
                + "messages: [0: OK])"
        )
        expectNoDifference(
            printed(
                DataAPI.Server.ProductInfo(name: "N", dateFormat: "d", timeFormat: "t", timeStampFormat: "s"),
                \.messages
            ),
            #"ProductInfo(name: "N", buildDate: nil, version: nil, dateFormat: "d", timeFormat: "t", "#
                + #"timeStampFormat: "s", messages: [0: OK])"#
        )
        expectNoDifference(
            printed(DataAPI.ScriptResponse(scriptResult: "r", scriptError: "0", scriptName: "S"), \.messages),
            #"ScriptResponse(scriptResult: Optional("r"), scriptError: Optional("0"), scriptResultPreRequest: nil, "#
                + "scriptErrorPreRequest: nil, scriptResultPreSort: nil, scriptErrorPreSort: nil, "
                + #"scriptName: Optional("S"), scriptNamePreRequest: nil, scriptNamePreSort: nil, messages: [0: OK])"#
        )
    }
}

import CustomDump
import FMData
import Testing

@testable import FMWebhooks

@Suite struct RegisteredWebhookTests {
    private func answer(
        _ call: RegistrarStateMachine.Call,
        _ body: String,
        status: Int = 200
    ) -> WebhookAnswer {
        WebhookAnswer(call, .success(ODataAnswer(status: status, body: Array(body.utf8))))
    }

    /// As recorded, with an unreadable webhook added.
    @Test func aListAsTheGuideSpellsIt() {
        let body = """
            {"@context":"https://HOST/fmi/odata/v4/Harbor/$metadata#Webhook Processor","status":"ACTIVE","webhooks":[
             {"tableName":"no id"},
             {"webhookID":3,"tableName":"Vessels","webhook":"https://receiver.example/fm","headers":{"X-Secret":"s"},
              "notifySchemaChanges":false,"select":"","filter":"",
              "pendingOperations":[{"operation":"UPDATE","rowIDs":[20733],"status":"NOT_SENT",
               "lastErrorCode":-1002,"lastErrorMessage":"syntax","sendAttempts":36}]}]}
            """
        let hook = RegisteredWebhook(
            id: 3,
            url: "https://receiver.example/fm",
            table: "Vessels",
            headers: ["X-Secret": "s"],
            select: "",
            filter: "",
            notifiesSchemaChanges: false,
            pending: [.init(operation: "UPDATE", attempts: 36, errorCode: -1002, errorMessage: "syntax")]
        )
        expectNoDifference(answer(.list, body), .hooks([hook]))
    }

    @Test func aListAsOthersHaveSeenIt() {
        let body = #"{"Status":"ACTIVE","WebHook":[{"webHookID":"3","tableName":"Vessels","url":"http://r/fm"}]}"#
        let hook = RegisteredWebhook(id: 3, url: "http://r/fm", table: "Vessels")
        expectNoDifference(answer(.list, body), .hooks([hook]))
        expectNoDifference(answer(.get(3), #"{"webHookID":3,"tableName":"Vessels","url":"http://r/fm"}"#), .hook(hook))
    }

    @Test func refusalsAndPagesOfOthers() {
        let gone = #"{"error":{"code":"-1061","message":"Specified WebHook not found"}}"#
        expectNoDifference(answer(.get(3), gone, status: 404), .hook(nil))
        expectNoDifference(
            answer(.delete(3), gone, status: 404),
            .refused(status: 404, reason: "code -1061: Specified WebHook not found")
        )
        expectNoDifference(answer(.get(3), "<html>", status: 404), .refused(status: 404, reason: "HTTP status 404"))
        expectNoDifference(answer(.list, "<html>", status: 502), .failed(reason: "HTTP status 502"))
        for body in ["", "[]", "{}", "<html>", #"{"webhooks":7}"#] {
            guard case .failed = answer(.list, body) else {
                Issue.record("read as a list: \(body)")
                continue
            }
        }
    }
}

/// Source: Claris OData guide, "Webhooks"; recorded answers of FileMaker Server 22.0.4, and where they differ also
/// those in the tests of another client.
extension Responder {
    /// An error of the OData interface. Its code is a text, and it has no envelope.
    private struct ODataError: Error {
        var status: Int
        var code: Int
        var message: String

        static let notFound = ODataError(status: 404, code: -1061, message: "Specified WebHook not found")
        static let syntax = ODataError(status: 400, code: -1002, message: "JSON syntax error")

        static func unknownKey(_ key: String) -> ODataError {
            ODataError(status: 400, code: -1009, message: "Key not allowed for insert operation: \(key)")
        }
    }

    /// The web server has restarted, and the connection is about to be closed: nobody will get what is answered.
    private struct ConnectionDropped: Error {}

    func respond(to call: WebhookCall, _ request: SandboxRequest, _ traits: Sandbox.WebhookTraits) -> SandboxResponse {
        do {
            return Self.odataResponse(200, try answer(call, request, traits))
        } catch let error as ODataError {
            return Self.odataResponse(
                error.status,
                ["error": ["code": .string(String(error.code)), "message": .string(error.message)]]
            )
        } catch is ConnectionDropped {
            return .nothing
        } catch {
            return Self.odataResponse(400, ["error": ["code": "-1002", "message": "JSON syntax error"]])
        }
    }

    private static func odataResponse(_ status: Int, _ body: JSONValue) -> SandboxResponse {
        SandboxResponse(
            status: status,
            headers: [("Content-Type", "application/json;charset=utf-8"), ("OData-Version", "4.01")],
            body: WebhookBody.tabbed(body)
        )
    }

    private func answer(
        _ call: WebhookCall,
        _ request: SandboxRequest,
        _ traits: Sandbox.WebhookTraits
    ) throws -> JSONValue {
        let database = try database(call, request)
        switch (call.function, call.method) {
        case ("GetAll", "GET"), ("GetAll", "POST"):
            let hooks = engine.withState { state in
                state.generation == generation
                    ? state.webhooks.list(database.index, isColdAtFirst: traits.coldList) : nil
            }
            guard let hooks else { throw ConnectionDropped() }
            let list = JSONValue.array(hooks.map { .object(Self.object($0, traits)) })
            return traits.spelling == .lower
                ? ["@context": .string(context(request, "Webhook Processor")), "status": "ACTIVE", "webhooks": list]
                : ["@context": .string(context(request, "Webhook Processor")), "Status": "ACTIVE", "WebHook": list]
        case ("Get", "GET"):
            let hook = try hook(call, database)
            var object: JSONObject = ["@context": .string(context(request, "WebHook"))]
            for member in Self.object(hook, traits).members { object.append(member.key, member.value) }
            return .object(object)
        case ("Add", "POST"):
            let hook = try newHook(Self.body(of: request), database, traits)
            return Self.result(engine.withState { $0.webhooks.add(hook) }, traits)
        case ("Delete", "POST"):
            let id = try hook(call, database).id
            guard engine.withState({ $0.webhooks.delete(id, in: database.index) }) else { throw ODataError.notFound }
            return Self.result(id, traits)
        default:
            // A server answers `Webhook.Update(4)` in this way, because it takes the call for a new record.
            throw ODataError(status: 400, code: -1009, message: "Key not allowed for insert operation")
        }
    }

    /// The database of the call. Throws 401 if the account may not use OData.
    private func database(_ call: WebhookCall, _ request: SandboxRequest) throws -> DatabaseModel {
        guard let database = engine.model.database(named: call.database) else {
            throw ODataError(status: 404, code: 802, message: "Unable to open file")
        }
        guard let (user, password) = request.basicCredentials,
            let account = database.account(.fileMaker, name: user, password: password), account.isActive,
            database.privilegeSets[account.privilegeSet]?.allowsOData == true
        else { throw ODataError(status: 401, code: 212, message: FileMakerError(212).message) }
        return database
    }

    private func hook(_ call: WebhookCall, _ database: DatabaseModel) throws -> WebhookBoard.Hook {
        guard let id = call.argument.flatMap(Int.init),
            let hook = engine.withState({ $0.webhooks.hook(id, in: database.index) })
        else { throw ODataError.notFound }
        return hook
    }

    private static func body(of request: SandboxRequest) throws -> JSONObject {
        guard let body = try? JSONParser.parse(request.body).object else { throw ODataError.syntax }
        return body
    }

    private func newHook(
        _ body: JSONObject,
        _ database: DatabaseModel,
        _ traits: Sandbox.WebhookTraits
    ) throws -> WebhookBoard.Hook {
        var known = ["webhook", "tableName", "headers", "notifySchemaChanges", "select", "filter"]
        if traits.takesEndpointHeaders { known += ["endpointHeaders", "queryHeaders", "maxFailedAttempts"] }
        if let key = body.keys.first(where: { !known.contains($0) }) { throw ODataError.unknownKey(key) }
        guard let url = body["webhook"]?.string, let occurrence = body["tableName"]?.string else {
            throw ODataError(status: 400, code: -1010, message: "Required parameter missing")
        }
        func texts(_ key: String) -> [String: String] {
            Dictionary((body[key]?.object?.members ?? []).map { ($0.key, $0.value.scalarText ?? "") }) { $1 }
        }
        return WebhookBoard.Hook(
            id: 0,
            number: 0,
            database: database.index,
            occurrence: occurrence,
            // A name without an occurrence is accepted, too.
            table: database.table(ofOccurrence: occurrence),
            url: url,
            headers: texts("headers").merging(texts("endpointHeaders")) { $1 },
            queryHeaders: texts("queryHeaders"),
            notifiesSchemaChanges: body["notifySchemaChanges"] == true,
            select: body["select"]?.string ?? "",
            filter: body["filter"]?.string ?? "",
            maximumAttempts: body["maxFailedAttempts"]?.scalarText.flatMap(Int.init) ?? 0
        )
    }

    // MARK: Spelling

    private func context(_ request: SandboxRequest, _ name: String) -> String {
        "\(request.origin)\(request.path.prefix { $0 != "?" }.replacing(/[^\/]*$/, with: ""))$metadata#\(name)"
    }

    private static func result(_ id: Int, _ traits: Sandbox.WebhookTraits) -> JSONValue {
        traits.spelling == .lower
            ? ["webhookResult": ["webhookID": .int(id)]] : ["webHookResult": ["webHookID": .int(id)]]
    }

    private static func object(_ hook: WebhookBoard.Hook, _ traits: Sandbox.WebhookTraits) -> JSONObject {
        func texts(_ texts: [String: String]) -> JSONValue {
            .object(
                JSONObject(
                    members: texts.sorted { $0.key < $1.key }.map { .init(key: $0.key, value: .string($0.value)) }
                )
            )
        }
        let pending: [JSONValue] = hook.queue.map { operation in
            [
                "operation": .string(operation.kind.rawValue), "rowIDs": .array(operation.rowIDs.map { .int($0) }),
                "status": "NOT_SENT", "lastErrorCode": .int(operation.errorCode),
                "lastErrorMessage": .string(operation.errorMessage), "sendAttempts": .int(operation.attempts),
            ]
        }
        let isLower = traits.spelling == .lower
        return [
            isLower ? "webhookID" : "webHookID": .int(hook.id), "tableName": .string(hook.occurrence),
            isLower ? "webhook" : "url": .string(hook.url), "headers": texts(hook.headers),
            "notifySchemaChanges": .bool(hook.notifiesSchemaChanges), "select": .string(hook.select),
            "filter": .string(hook.filter), "pendingOperations": .array(pending),
        ]
    }
}

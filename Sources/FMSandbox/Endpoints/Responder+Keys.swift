/// The proxy that takes keys in place of sessions.
///
/// Source: OttoFMS documentation, "API Proxy".
extension Responder {
    /// Answers a request for the proxy: as the account of the key, in a session that ends with the request.
    func answerByProxy(_ call: Call) async throws -> Answer {
        let keys = engine.configuration.keys.filter { $0.text == call.request.bearerToken }
        guard !keys.isEmpty else { return .keyRefused }
        switch call.route.endpoint.kind {
        case .login, .logout, .oauth, .downloadContainer:
            throw FileMakerError(1700)
        case .productInfo:
            return try productInfo(call)
        case .databases:
            try call.refuseUnknownParameters()
            return Answer(["databases": .array(keys.map { ["name": .string($0.database)] })])
        case .validateSession:
            try call.refuseUnknownParameters()
            return Answer()
        case .setGlobals, .scripts, .layouts, .layoutMetadata, .oldMetadata, .getRecords, .getRecord, .createRecord,
            .editRecord, .duplicateRecord, .deleteRecord, .uploadContainer, .find, .runScript:
            guard let session = session(of: keys, for: call) else { return .keyRefused }
            return try await answer(call, in: session)
        }
    }

    /// A session for one request; nil if none of the keys is for its database.
    private func session(of keys: [Sandbox.Key], for call: Call) -> Session? {
        guard let database = engine.model.database(named: call.route.database),
            let key = keys.first(where: { $0.database.lowercased() == database.name.lowercased() }),
            let account = database.account(.fileMaker, name: key.account), account.isActive,
            let privileges = database.privilegeSets[account.privilegeSet], privileges.allowsDataAPI
        else { return nil }
        let number = engine.withState { state in
            state.tokenCount += 1
            return state.tokenCount
        }
        return Session(
            number: number,
            token: "",
            database: database.index,
            spelling: call.route.database,
            account: account,
            privileges: privileges,
            dataSources: [],
            now: engine.clock.now
        )
    }
}

extension Responder.Answer {
    /// The proxy does not know the key, or not for this database.
    fileprivate static var keyRefused: Self {
        Self(
            SandboxResponse(
                status: 401,
                headers: [("Content-Type", "application/json; charset=utf-8")],
                body: Array(#"{"success":false,"message":"Invalid API key"}"#.utf8)
            )
        )
    }
}

/// Source: Claris FileMaker Data API Guide, "Connect to or disconnect from a database".
extension Responder {
    /// `POST databases/{database}/sessions`
    func login(_ call: Call) throws -> Answer {
        do {
            let session = try openSession(call)
            // The answer to a Claris ID login has the token in the header only.
            let isClarisID = session.account.kind == .clarisID
            var answer = isClarisID ? Answer() : Answer(["token": .string(session.token)])
            answer.headers = [("X-FM-Data-Access-Token", session.token)]
            return answer
        } catch {
            engine.withState { $0.counters.failedLogins += 1 }
            throw error
        }
    }

    private func openSession(_ call: Call) throws -> Session {
        try call.refuseUnknownParameters(body: ["fmDataSource"])
        guard Self.hasCredentials(call.request) else {
            throw FileMakerError(10, message: "HTTP Authorization header or OAuth headers are missing.", status: 401)
        }
        guard let database = engine.model.database(named: call.route.database) else { throw FileMakerError(802) }
        let dataSources = try Self.dataSources(call.body["fmDataSource"])
        let account = try throttledAccount(of: call.request, in: database)
        guard let privileges = database.privilegeSets[account.privilegeSet], privileges.allowsDataAPI else {
            throw FileMakerError(212)
        }
        return try engine.open(in: call.era, from: generation) { number, token, now in
            Session(
                number: number,
                token: token,
                database: database.index,
                spelling: call.route.database,
                account: account,
                privileges: privileges,
                dataSources: dataSources,
                now: now
            )
        }
    }

    private static func hasCredentials(_ request: SandboxRequest) -> Bool {
        request.header("authorization") != nil || request.header("x-fm-data-oauth-request-id") != nil
    }

    /// Like ``account(of:in:)``, but fails with 214 while wrong passwords have locked the account.
    private func throttledAccount(
        of request: SandboxRequest,
        in database: DatabaseModel
    ) throws -> Solution.Account {
        guard let rule = engine.configuration.loginThrottling, let (user, _) = request.basicCredentials else {
            return try account(of: request, in: database)
        }
        let key = LoginThrottle.Key(database: database.index, account: user)
        let now = engine.clock.now
        guard !engine.withState({ $0.throttle.isLocked(key, now: now, rule) }) else { throw FileMakerError(214) }
        do {
            let proven = try account(of: request, in: database)
            engine.withState { $0.throttle.succeed(key) }
            return proven
        } catch let error as FileMakerError where error.code == 212 {
            engine.withState { $0.throttle.fail(key, now: now, rule) }
            throw error
        }
    }

    /// The account that a Basic, an FMID or an OAuth login authenticates. Only a login consumes the OAuth identifier.
    private func account(
        of request: SandboxRequest,
        in database: DatabaseModel,
        isLogin: Bool = true
    ) throws -> Solution.Account {
        let account: Solution.Account?
        if let (user, password) = request.basicCredentials {
            account = database.account(.fileMaker, name: user, password: password)
        } else if let token = request.credentials(scheme: "fmid") {
            // Simulated: the ID token of a Claris ID account is its password in the solution.
            account = database.accounts.first { $0.kind == .clarisID && !$0.password.isEmpty && $0.password == token }
        } else if let requestId = request.header("x-fm-data-oauth-request-id"),
            let identifier = request.header("x-fm-data-oauth-identifier"),
            let name = engine.withState({ state in
                isLogin
                    ? state.oauth.redeem(requestId: requestId, identifier: identifier)
                    : state.oauth.account(requestId: requestId, identifier: identifier)
            })
        {
            account = database.account(.oauth, name: name)
        } else {
            account = nil
        }
        guard let account else { throw FileMakerError(212) }
        guard account.isActive else { throw FileMakerError(210) }
        return account
    }

    private static func dataSources(_ value: JSONValue?) throws -> [Session.DataSourceLogin] {
        guard let value else { return [] }
        guard let elements = value.array else { throw FileMakerError(1708) }
        return try elements.map { element in
            guard let object = element.object, let database = object["database"]?.string else {
                throw FileMakerError(1708)
            }
            // If an entry has both kinds of credentials, OAuth wins.
            if let requestId = object["oAuthRequestId"]?.string, let identifier = object["oAuthIdentifier"]?.string {
                return .init(database: database, credentials: .oauth(requestId: requestId, identifier: identifier))
            }
            let (name, password) = (object["username"]?.string ?? "", object["password"]?.string ?? "")
            return .init(database: database, credentials: .account(name: name, password: password))
        }
    }

    /// `DELETE databases/{database}/sessions/{token}`: needs only the token in the path.
    func logout(_ call: Call) throws -> Answer {
        try call.refuseUnknownParameters()
        guard engine.close(call.route.token, spelling: call.route.database) else { throw FileMakerError(952) }
        return Answer()
    }

    /// `GET validateSession`. It does not wait for the session's running request: it answers whether there is one.
    func validateSession(_ call: Call) throws -> Answer {
        try call.refuseUnknownParameters()
        let session = try bearer(of: call)
        return engine.version >= .v22 ? Answer(["isSessionInUse": .bool(session.gate.isBusy)]) : Answer()
    }

    // MARK: Host

    /// `GET productInfo`
    func productInfo(_ call: Call) throws -> Answer {
        try call.refuseUnknownParameters()
        var info: JSONObject = ["name": "FileMaker Data API Engine"]
        switch engine.version {
        case .v17, .v22: break
        case .v18:
            info.append("buildDate", "09/06/2019")
            info.append("version", "18.0.3.317")
        case .v19:
            info.append("buildDate", "11/24/2022")
            info.append("version", "19.6.1.45")
        }
        info.append("dateFormat", "MM/dd/yyyy")
        info.append("timeFormat", "HH:mm:ss")
        info.append("timeStampFormat", "MM/dd/yyyy HH:mm:ss")
        return Answer(["productInfo": .object(info)])
    }

    /// `GET databases`
    func databases(_ call: Call) throws -> Answer {
        try call.refuseUnknownParameters()
        let shown = engine.model.databases.filter { database in
            guard engine.configuration.filtersDatabases ?? (engine.version >= .v19) else { return true }
            let account = try? account(of: call.request, in: database, isLogin: false)
            return account.flatMap { database.privilegeSets[$0.privilegeSet] }?.allowsDataAPI ?? false
        }
        return Answer(["databases": .array(shown.map { ["name": .string($0.name)] })])
    }
}

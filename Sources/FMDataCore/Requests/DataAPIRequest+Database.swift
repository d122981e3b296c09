import FMHTTP

/// Calls of a database: its sessions, lists and globals.
extension DataAPIRequest {
    static func logIn(
        to database: String,
        as credentials: DataAPI.Credentials,
        dataSources: DataAPI.FMDataSourceAuth?
    ) -> Self where Response == LoginResponse {
        Self(
            method: .POST,
            path: .database(database) / "sessions",
            options: .dataSources(dataSources),
            body: .json,
            authorization: .credentials(credentials)
        )
    }

    static func logOut(of database: String, token: SessionToken) -> Self where Response == FMRest.EmptyResponse {
        Self(
            method: .DELETE,
            path: .database(database) / "sessions" / token.value,
            authorization: .none,
            // A second logout finds the session closed, which is what the first one was for.
            isSafeToRepeat: true,
            secretSegment: token.value
        )
    }

    static func layoutNames(in database: String) -> Self where Response == LayoutListBody {
        Self(method: .GET, path: .database(database) / "layouts", isSafeToRepeat: true)
    }

    static func scriptNames(in database: String) -> Self where Response == ScriptListBody {
        Self(method: .GET, path: .database(database) / "scripts", isSafeToRepeat: true)
    }

    static func setGlobals(_ fields: [String: String], in database: String) throws -> Self
    where Response == FMRest.EmptyResponse {
        for name in fields.keys where !name.contains("::") {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A global field is named with its table, as in \"Table::\(name)\"; \"\(name)\" was given."
            )
        }
        return Self(
            method: .PATCH,
            path: .database(database) / "globals",
            options: [
                WireOption(name: "globalFields", value: .object(fields), disclosure: .hidden, names: .fields)
            ],
            body: .json
        )
    }
}

extension [WireOption] {
    /// The external data sources that a login opens.
    fileprivate static func dataSources(_ dataSources: DataAPI.FMDataSourceAuth?) -> Self {
        guard let sources = dataSources?.fmDataSource, !sources.isEmpty else { return [] }
        let value = WireValue.array(
            sources.map { source in
                switch source.credentials {
                case .basic(let user, let password):
                    .object(["database": source.database, "username": user, "password": password])
                case .oAuth(let requestId, let identifier):
                    .object([
                        "database": source.database, "oAuthRequestId": requestId, "oAuthIdentifier": identifier,
                    ])
                }
            }
        )
        return [WireOption(name: "fmDataSource", value: value, disclosure: .hidden)]
    }
}

import FMHTTP
import Foundation
import NIOCore
import NIOFoundationCompat

/// Calls that belong to a database: its sessions, its lists, its globals.
extension DataAPIRequest {
    static func logIn(
        to database: String,
        as credentials: DataAPI.Credentials,
        dataSources: DataAPI.FMDataSourceAuth?
    ) throws -> Self where Response == LoginResponse {
        Self(
            method: .POST,
            path: .database(database) / "sessions",
            body: try .json(encoding: LoginBody(dataSources: dataSources)),
            authorization: .credentials(credentials)
        )
    }

    static func logOut(of database: String, token: SessionToken) -> Self where Response == FMRest.EmptyResponse {
        Self(
            method: .DELETE,
            path: .database(database) / "sessions" / token.value,
            authorization: .none,
            // A second log-out finds the session gone, which is what was wanted.
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
        try RequestCheck.qualified(fields.keys)
        return Self(
            method: .PATCH,
            path: .database(database) / "globals",
            body: try .json(encoding: GlobalsBody(globalFields: fields))
        )
    }
}

extension DataAPIRequest.Body {
    /// A body written by the library's own types.
    static func json(encoding value: some Encodable) throws -> Self {
        .json(ByteBuffer(data: try JSONEncoder.wire.encode(value)))
    }
}

/// A request's endpoint and the names in its path.
struct Route: Equatable {
    /// The version of the API in a path. The versions differ only in the portals of layouts in table view.
    enum APIVersion: String {
        case v1, v2, vLatest
    }

    var endpoint: Sandbox.Endpoint
    /// Whether the request is for the proxy that takes keys.
    var isForProxy = false
    var version = APIVersion.vLatest
    var database = ""
    var token = ""
    var layout = ""
    var recordId = ""
    var field = ""
    var repetition = ""
    var script = ""
    /// The key of a container URL.
    var containerKey = ""
}

/// Finds the endpoint of a request from its method and path.
///
/// Source: Claris FileMaker Data API Guide, "Write Data API calls". URLs are case-sensitive, except for two words that
/// existing clients write in lower case.
enum Router {
    /// - Parameter hasProxy: whether the proxy of OttoFMS runs on the host, at `/otto`.
    static func route(
        _ request: SandboxRequest,
        serverVersion: Sandbox.ServerVersion,
        hasProxy: Bool = false
    ) throws -> Route {
        var segments: [String] = []
        for segment in request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            // A path that cannot be decoded is a bad request (400), not an unknown path (404).
            guard let decoded = PercentCoding.decode(segment) else { throw FileMakerError(1708) }
            segments.append(decoded)
        }
        // Several clients append a slash.
        if segments.last == "", segments.count > 1 { segments.removeLast() }
        let isForProxy = hasProxy && segments.first == "otto"
        if isForProxy {
            segments.removeFirst()
        } else {
            if let route = try streamRoute(segments, method: request.method) { return route }
            if let route = oauthRoute(segments, method: request.method) { return route }
        }
        guard segments.count >= 4, segments[0] == "fmi", segments[1] == "data",
            let version = Route.APIVersion(rawValue: segments[2]), serverVersion >= .v19 || version != .v2
        else { throw FileMakerError(1700) }
        let found = methods(segments.dropFirst(3).map(\.self))
        let known = found.filter { serverVersion >= $0.value.endpoint.firstVersion }
        guard !known.isEmpty else { throw FileMakerError(1700) }
        guard var route = known[request.method] else { throw FileMakerError(1704) }
        route.version = version
        route.isForProxy = isForProxy
        return route
    }

    /// The routes of a path by method.
    private static func methods(_ path: [String]) -> [String: Route] {
        switch path.count {
        case 1:
            switch path[0] {
            case "productInfo", "productinfo": return ["GET": Route(endpoint: .productInfo)]
            case "validateSession", "validatesession": return ["GET": Route(endpoint: .validateSession)]
            case "databases": return ["GET": Route(endpoint: .databases)]
            default: return [:]
            }
        case 3... where path[0] == "databases":
            return databaseMethods(path[1], Array(path.dropFirst(2)))
        default: return [:]
        }
    }

    private static func databaseMethods(_ database: String, _ path: [String]) -> [String: Route] {
        func route(_ endpoint: Sandbox.Endpoint) -> Route { Route(endpoint: endpoint, database: database) }
        switch (path[0], path.count) {
        case ("sessions", 1): return ["POST": route(.login)]
        case ("sessions", 2):
            var logout = route(.logout)
            logout.token = path[1]
            return ["DELETE": logout]
        case ("globals", 1): return ["PATCH": route(.setGlobals)]
        case ("scripts", 1): return ["GET": route(.scripts)]
        case ("layouts", 1): return ["GET": route(.layouts)]
        case ("layouts", 2...): return layoutMethods(database, path[1], Array(path.dropFirst(2)))
        default: return [:]
        }
    }

    private static func layoutMethods(_ database: String, _ layout: String, _ path: [String]) -> [String: Route] {
        func route(_ endpoint: Sandbox.Endpoint) -> Route {
            Route(endpoint: endpoint, database: database, layout: layout)
        }
        guard let word = path.first else { return ["GET": route(.layoutMetadata)] }
        switch (word, path.count) {
        case ("metadata", 1): return ["GET": route(.oldMetadata)]
        case ("_find", 1): return ["POST": route(.find)]
        case ("script", 2):
            var run = route(.runScript)
            run.script = path[1]
            return ["GET": run]
        case ("records", 1): return ["GET": route(.getRecords), "POST": route(.createRecord)]
        case ("records", 2...): return recordMethods(route(.getRecord), Array(path.dropFirst()))
        default: return [:]
        }
    }

    private static func recordMethods(_ route: Route, _ path: [String]) -> [String: Route] {
        func variant(_ endpoint: Sandbox.Endpoint) -> Route {
            var variant = route
            variant.endpoint = endpoint
            variant.recordId = path[0]
            return variant
        }
        if path.count == 1 {
            return [
                "GET": variant(.getRecord), "PATCH": variant(.editRecord), "POST": variant(.duplicateRecord),
                "DELETE": variant(.deleteRecord),
            ]
        }
        guard path[1] == "containers", (3...4).contains(path.count) else { return [:] }
        var upload = variant(.uploadContainer)
        upload.field = path[2]
        upload.repetition = path.count == 4 ? path[3] : ""
        return ["POST": upload]
    }

    /// `/Streaming_SSL/MainDB/<key>.<extension>`
    private static func streamRoute(_ segments: [String], method: String) throws -> Route? {
        guard segments.count == 3, segments[0] == "Streaming_SSL", segments[1] == "MainDB" else { return nil }
        guard method == "GET" else { throw FileMakerError(1704) }
        return Route(endpoint: .downloadContainer, containerKey: String(segments[2].prefix { $0 != "." }))
    }

    /// `/fmws/oauthproviderinfo`, `/oauth/getoauthurl` and the sign-in page whose URL the latter answers
    private static func oauthRoute(_ segments: [String], method: String) -> Route? {
        let paths = [["fmws", "oauthproviderinfo"], ["oauth", "getoauthurl"], ["oauth", "signin"]]
        guard method == "GET", paths.contains(segments) else { return nil }
        return Route(endpoint: .oauth, field: segments[1])
    }
}

/// A routed request with its parsed parameters.
struct Call: Sendable {
    let request: SandboxRequest
    let route: Route
    /// The decoded query; the last value of a repeated name counts.
    let query: [String: String]
    /// The JSON body; empty if there is none.
    let body: JSONObject
    /// The number of restarts before the request arrived.
    let era: Int

    init(
        _ request: SandboxRequest,
        _ route: Route,
        serverVersion: Sandbox.ServerVersion,
        era: Int
    ) throws {
        self.era = era
        self.request = request
        self.route = route
        guard let pairs = PercentCoding.pairs(request.query ?? "") else { throw FileMakerError(1708) }
        query = Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        body = route.endpoint.takesJSON ? try Self.body(of: request, route.endpoint, serverVersion) : JSONObject()
    }

    private static func body(
        of request: SandboxRequest,
        _ endpoint: Sandbox.Endpoint,
        _ serverVersion: Sandbox.ServerVersion
    ) throws -> JSONObject {
        let mayBeEmpty = endpoint == .login || endpoint == .duplicateRecord
        if request.body.isEmpty, mayBeEmpty { return JSONObject() }
        let parts = (request.header("content-type") ?? "").lowercased().split(separator: ";").map { String($0).trimmed }
        guard parts.first == "application/json" else { throw FileMakerError(1705, status: 415) }
        // FileMaker Server 18 answered 400 to a charset; later ones accept it.
        guard parts.count == 1 || serverVersion >= .v19 else { throw FileMakerError(1708) }
        let value: JSONValue
        do {
            value = try JSONParser.parse(request.body).withoutRepeatedKeys
        } catch {
            throw FileMakerError(1710)
        }
        guard let object = value.object else { throw FileMakerError(1708) }
        return object
    }

    /// Throws 960 for parameters that the endpoint does not know: `Unknown parameter(s): _limit.x`.
    func refuseUnknownParameters(
        query: Set<String> = [],
        queryPrefixes: [String] = [],
        body: Set<String> = [],
        bodyPrefixes: [String] = []
    ) throws {
        let strangers =
            self.query.keys.filter { name in !query.contains(name) && !queryPrefixes.contains(where: name.hasPrefix) }
            .sorted()
            + self.body.keys.filter { name in !body.contains(name) && !bodyPrefixes.contains(where: name.hasPrefix) }
        guard strangers.isEmpty else {
            throw FileMakerError(960, message: "Unknown parameter(s): \(strangers.joined(separator: ", "))")
        }
    }
}

extension Call {
    static let scriptParameters: Set<String> = [
        "script", "script.param", "script.prerequest", "script.prerequest.param", "script.presort",
        "script.presort.param",
    ]

    /// The value of a count in the query or the body, as a number or as text: `_limit`, `offset.Portal`.
    static func count(_ value: JSONValue?) throws -> Int? {
        guard let value else { return nil }
        guard let text = value.scalarText, let count = Int(text), count >= 1 else { throw FileMakerError(960) }
        return count
    }

    func queryCount(_ name: String) throws -> Int? { try Self.count(query[name].map(JSONValue.string)) }

    /// The value of `limit.<portal>` in the body or `_limit.<portal>` in the query. Real hosts accept the latter for a
    /// find too.
    func portalCount(_ key: String, of portal: String, ignoresCase: Bool) throws -> Int? {
        func means(_ name: String, _ wanted: String) -> Bool {
            name == wanted || (ignoresCase && name.lowercased() == wanted.lowercased())
        }
        let inBody = body.members.last { means($0.key, "\(key).\(portal)") }?.value
        let inQuery = query.first { means($0.key, "_\(key).\(portal)") }?.value
        return try Self.count(inBody ?? inQuery.map(JSONValue.string))
    }

    /// The JSON in a query parameter.
    func queryJSON(_ name: String) throws -> JSONValue? {
        guard let text = query[name] else { return nil }
        guard let value = try? JSONParser.parse(Array(text.utf8)) else { throw FileMakerError(1708) }
        return value.withoutRepeatedKeys
    }

    /// The text of a body key, which must be a string if it is present.
    func bodyText(_ name: String) throws -> String? {
        guard let value = body[name] else { return nil }
        guard let text = value.string else { throw FileMakerError(1708) }
        return text
    }
}

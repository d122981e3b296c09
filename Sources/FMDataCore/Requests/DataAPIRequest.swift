package import FMHTTP
package import NIOCore

/// One call of the Data API as a value: the request, and in its type the response. Each endpoint is one static function
/// that returns such a value; only `Server.perform` and `Database.perform` send them.
package struct DataAPIRequest<Response>: Sendable {
    /// The path above the request's own path.
    package enum Root: Hashable, Sendable {
        /// `/fmi/data/v…`
        case dataAPI
        /// The root of the host: the calls before an OAuth login are no part of the Data API.
        case host
    }

    /// How the call is authenticated.
    package enum Authorization: Hashable, Sendable {
        /// Not at all: product info, and logout, whose token is in the path.
        case none
        /// By the token of a leased session, chosen for each attempt.
        case session
        /// By these credentials: a login, a list of databases.
        case credentials(DataAPI.Credentials)
    }

    package enum Body: Sendable {
        /// No body: the options are in the URL.
        case none
        /// The options, as a JSON object. Sent as `application/json` without a charset: FileMaker Server 18 refuses
        /// one.
        case json
        /// JSON that the caller has written; the options are in the URL.
        case raw(ByteBuffer)
        /// A file, read while it is sent; the options are in the URL.
        case multipart(MultipartForm)

        /// Whether the body can be sent a second time.
        var isReplayable: Bool {
            switch self {
            case .none, .json, .raw: true
            case .multipart(let form): form.isReplayable
            }
        }
    }

    package var method: HTTPMethod
    var root = Root.dataAPI
    package var path: DataAPIPath
    /// The options of the call, in the order in which they are sent.
    package var options: [WireOption] = []
    /// Headers of this call, besides those of all calls.
    package var headers: HTTPHeaders = [:]
    package var body: Body = .none
    var authorization: Authorization = .session
    /// Whether sending it twice does no more than sending it once: reads and finds that run no script.
    package var isSafeToRepeat = false
    /// The scripts that run with the call: the answer has their results, but not their names.
    package var scripts = ScriptNames()
    /// The part of the path that must not be printed: the token of a logout.
    var secretSegment: String?
    /// The limits, logger and tag of this one request.
    package var context = RequestContext()

    package init(
        method: HTTPMethod,
        root: Root = .dataAPI,
        path: DataAPIPath,
        options: [WireOption] = [],
        headers: HTTPHeaders = [:],
        body: Body = .none,
        authorization: Authorization = .session,
        isSafeToRepeat: Bool = false,
        scripts: ScriptNames = ScriptNames(),
        secretSegment: String? = nil,
        context: RequestContext = RequestContext()
    ) {
        self.method = method
        self.root = root
        self.path = path
        self.options = options
        self.headers = headers
        self.body = body
        self.authorization = authorization
        self.isSafeToRepeat = isSafeToRepeat
        self.scripts = scripts
        self.secretSegment = secretSegment
        self.context = context
    }

    /// The request with the context of a call's next request.
    func within(_ context: RequestContext) -> Self {
        var request = self
        request.context = context
        return request
    }

    /// The options that are parameters of the URL.
    var query: [WireOption] {
        if case .json = body { [] } else { options }
    }

    /// Path and query, percent-encoded.
    ///
    /// - Parameter apiRoot: the first part of the path of every Data API call.
    func target(below apiRoot: String) throws(FMRest.APIError) -> String {
        try root(below: apiRoot) + encodedTarget()
    }

    /// The first part of the request's path: `/fmi/data/vLatest`, or nothing.
    func root(below apiRoot: String) -> String {
        switch root {
        case .dataAPI: apiRoot
        case .host: ""
        }
    }

    /// Path and query below the root, percent-encoded.
    func encodedTarget() throws(FMRest.APIError) -> String {
        var target = try path.encoded()
        var separator = "?"
        for option in query {
            target += "\(separator)\(option.nameInURL.percentEncoded)=\(option.textInURL.percentEncoded)"
            separator = "&"
        }
        return target
    }
}

import FMHTTP

/// One call of the Data API as a value: what to ask, and in its type what comes back. Every endpoint is one static function
/// that returns one of these; `Server.perform` and `Database.perform` are the only places that send them.
struct DataAPIRequest<Response>: Sendable {
    /// Below what a path stands.
    enum Root: Hashable, Sendable {
        /// `/fmi/data/v…`
        case dataAPI
        /// The host itself: the calls that precede an OAuth login are no part of the Data API.
        case host
    }

    /// How the call proves who is asking.
    enum Authorization: Hashable, Sendable {
        /// By nothing: product info, and log-out, whose token is in the path.
        case none
        /// By the token of a leased session, chosen for each attempt.
        case session
        /// By these very credentials: a login, a list of databases.
        case credentials(DataAPI.Credentials)
    }

    enum Body: Sendable {
        /// None: the options are in the URL.
        case none
        /// The options, as a JSON object. Sent as `application/json` without a charset: FileMaker Server 18 refuses one.
        case json
        /// A file, read while it is sent; the options are in the URL.
        case multipart(MultipartForm)

        /// Whether it can be sent a second time.
        var isReplayable: Bool {
            switch self {
            case .none, .json: true
            case .multipart(let form): form.isReplayable
            }
        }
    }

    var method: HTTPMethod
    var root = Root.dataAPI
    var path: DataAPIPath
    /// What the call is told beside its path, in the order in which it is sent.
    var options: [WireOption] = []
    /// Headers of this call alone.
    var headers: HTTPHeaders = [:]
    var body: Body = .none
    var authorization: Authorization = .session
    /// Whether sending it twice does no more than sending it once: reads and finds that run no script.
    var isSafeToRepeat = false
    /// The scripts that run with it: the answer has their results, but not their names.
    var scripts = ScriptNames()
    /// The part of the path that must not be printed: the token of a log-out.
    var secretSegment: String?
    /// What holds for this one request besides.
    var context = RequestContext()

    /// The request as the next one of a call.
    func within(_ context: RequestContext) -> Self {
        var request = self
        request.context = context
        return request
    }

    /// The options that are parameters of the URL.
    var query: [WireOption] {
        if case .json = body { [] } else { options }
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

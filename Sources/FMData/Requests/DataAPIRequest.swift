import FMHTTP
import NIOCore

/// One call of the Data API as a value: what to ask, and in its type what comes back. Every endpoint is one static function
/// that returns one of these; `Server.perform` and `Database.perform` are the only places that send them.
struct DataAPIRequest<Response>: Sendable {
    /// One parameter of the query, not yet encoded.
    struct Parameter: Hashable, Sendable {
        var name: String
        var value: String
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
        case none
        /// JSON, already encoded. Sent as `application/json` without a charset: FileMaker Server 18 refuses one.
        case json(ByteBuffer)
        /// A file, read while it is sent.
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
    var path: DataAPIPath
    var query: [Parameter] = []
    var body: Body = .none
    var authorization: Authorization = .session
    /// Whether sending it twice does no more than sending it once: reads and finds that run no script.
    var isSafeToRepeat = false
    /// The part of the path that must not be printed: the token of a log-out.
    var secretSegment: String?
    /// The fields that the call names, in any role: what "Field is missing" (102) can be about.
    var namedFields: [String] = []

    /// What may be printed of the request.
    func summary(at origin: Origin) -> FMRest.APIError.RequestSummary {
        let segments = path.segments.map { $0 == secretSegment ? "••••" : $0.percentEncoded }
        return .init(method: method.rawValue, origin: "\(origin)", path: "/" + segments.joined(separator: "/"))
    }

    /// Path and query below the root of the API, percent-encoded.
    func encodedTarget() throws(FMRest.APIError) -> String {
        var target = try path.encoded()
        var separator = "?"
        for parameter in query {
            target += "\(separator)\(parameter.name.percentEncoded)=\(parameter.value.percentEncoded)"
            separator = "&"
        }
        return target
    }
}

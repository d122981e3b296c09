/// The body of a login's answer. The guide's OAuth and data-source examples show it empty: the token is then in the header
/// `X-FM-Data-Access-Token` alone, so that is read first.
struct LoginResponse: Decodable {
    static let tokenHeader = "X-FM-Data-Access-Token"

    var token: String?
}

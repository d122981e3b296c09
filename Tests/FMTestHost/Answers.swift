public import NIOHTTP1

extension FaultServer {
    /// Status line and headers, with the announced length of the body.
    public static func head(_ status: Int = 200, _ headers: HTTPHeaders = [:], length: Int) -> String {
        var text = "HTTP/1.1 \(status) \(HTTPResponseStatus(statusCode: status).reasonPhrase)\r\n"
        text += "Content-Length: \(length)\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        return text + "\r\n"
    }
}

/// Ready-made answers of a fault server.
extension [FaultServer.Step] {
    /// No answer at all, ever.
    public static var silence: Self { [] }

    /// An answer with a status, headers and a body.
    public static func response(_ status: Int = 200, _ headers: HTTPHeaders = [:], _ body: String = "") -> Self {
        [.send(FaultServer.head(status, headers, length: body.utf8.count) + body)]
    }

    // MARK: Answers of a Data API

    /// `response` in an envelope without error.
    public static func json(_ response: String, _ headers: HTTPHeaders = [:]) -> Self {
        json(200, #"{"response":\#(response),"messages":[{"code":"0","message":"OK"}]}"#, headers)
    }

    /// A body with the content type of JSON.
    public static func json(_ status: Int, _ body: String, _ headers: HTTPHeaders = [:]) -> Self {
        var headers = headers
        headers.add(name: "Content-Type", value: "application/json; charset=utf-8")
        return response(status, headers, body)
    }

    /// An answer of a Data API that reports an error.
    public static func error(_ code: Int, _ message: String = "", status: Int = 500) -> Self {
        json(status, #"{"messages":[{"code":"\#(code)","message":"\#(message)"}],"response":{}}"#)
    }

    /// The answer to a request whose token belongs to no open session.
    public static var invalidToken: Self { error(952, "Invalid FileMaker Data API token (*)", status: 401) }

    /// A record with one field.
    public static func record(_ field: String, _ value: String) -> Self {
        json(#"{"data":[{"fieldData":{"\#(field)":"\#(value)"},"portalData":{},"recordId":"1","modId":"0"}]}"#)
    }

    /// The answer of a web server whose database engine does not respond.
    public static func html(_ status: Int) -> Self {
        response(status, ["Content-Type": "text/html"], "<html><title>\(status)</title></html>")
    }

    /// The usual first answer for a container: a redirect to the same place, with a cookie.
    public static func redirect(
        to location: String,
        cookie: String? = "X-FMS-Session-Key=K1; Path=/; HttpOnly"
    ) -> Self {
        var headers: HTTPHeaders = ["Location": location]
        if let cookie { headers.add(name: "Set-Cookie", value: cookie) }
        return response(302, headers)
    }
}

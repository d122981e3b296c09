import FMHTTP
import Foundation
import NIOCore

/// Reads an HTTP answer as a Data API answer: its messages decide before its status does, and before the response is looked
/// at, since an error carries an empty one.
///
/// One for each server: the memory of keys and types that one answer has filled makes the next one quicker to read.
final class AnswerReader: Sendable {
    let options: DecodingOptions
    let contexts: DecodingContexts
    private let wallClock: @Sendable () -> Date
    /// How to look at a first record; `nil` when nobody wants to know.
    private let glance: ModelGlance?

    /// - Parameter wallClock: what a clock on the wall shows.
    init(config: DataAPI.Config = DataAPI.Config(), wallClock: @escaping @Sendable () -> Date = { Date() }) {
        self.wallClock = wallClock
        options = config.decoding
        contexts = DecodingContexts(options: options, recordDecoder: config.decoder)
        glance = nil
    }

    /// A reader for the answer to one request, which also looks at its first record.
    private init(_ reader: AnswerReader, glance: ModelGlance) {
        wallClock = reader.wallClock
        options = reader.options
        contexts = reader.contexts
        self.glance = glance
    }

    /// The reader for the answer to a request.
    func reader<Response>(for request: DataAPIRequest<Response>) -> AnswerReader {
        request.modelGlance.map { AnswerReader(self, glance: $0) } ?? self
    }

    /// A reader for one answer with records, by FileMaker's rules or by the decoder of the configuration.
    func recordReader<R: Decodable, P: Decodable>() -> RecordResponseReader<R, P> {
        RecordResponseReader(context: contexts.take(), glance: glance)
    }

    /// The answer was read to its end.
    func retire<R: Decodable, P: Decodable>(_ reader: consuming RecordResponseReader<R, P>) {
        contexts.give(reader.retire())
    }

    func read<Response: Decodable>(_ type: Response.Type, from answer: HTTPResponse) throws -> Response {
        let reader = EnvelopeReader(context: contexts.take())
        let messages: [DataAPI.Message]
        do {
            messages = try reader.messages(of: answer.body)
        } catch {
            throw unreadable(answer, error)
        }
        try check(messages, of: answer)
        let response: Response
        do {
            response = try reader.response(type)
        } catch {
            throw misshapen(answer, error)
        }
        contexts.give(reader.retire())
        guard var carrier = response as? any DataAPI.MessageCarrying else { return response }
        carrier.messages = messages
        return carrier as? Response ?? response
    }

    /// Throws what FileMaker reports.
    func check(_ messages: [DataAPI.Message], of answer: HTTPResponse) throws(FMRest.APIError) {
        guard let first = messages.first else {
            throw failure(.decoding, "The answer has no message, so it says neither success nor error.", answer)
        }
        if !first.isSuccess { throw fileMakerError(first, all: messages, answer) }
    }

    /// What to say of a body that could not be read to its end: that of a Data API with an unexpected shape, or of
    /// something else altogether.
    func unreadable(_ answer: HTTPResponse, _ error: DecodingFailure) -> FMRest.APIError {
        answer.looksLikeDataAPI ? misshapen(answer, error) : notDataAPI(answer, underlying: error)
    }

    private func misshapen(_ answer: HTTPResponse, _ error: DecodingFailure) -> FMRest.APIError {
        var error = FMRest.APIError(wrapping: error)
        error.httpStatus = Int(answer.status.code)
        error.contentType = answer.contentType
        error.retryAfter = answer.headers.retryAfter(now: wallClock())
        return error
    }

    private func fileMakerError(
        _ first: DataAPI.Message,
        all messages: [DataAPI.Message],
        _ answer: HTTPResponse
    ) -> FMRest.APIError {
        let code = first.errorCode
        // Its status says more than any code could.
        if answer.status == .payloadTooLarge {
            var error = requestTooLarge(answer)
            (error.messages, error.fileMakerCode) = (messages, code)
            return error
        }
        var error = FMRest.APIError(
            .fileMaker,
            reason: first.message ?? code?.summary ?? "FileMaker answered with code \"\(first.code)\".",
            hint: code?.hint,
            fileMakerCode: code,
            messages: messages,
            httpStatus: Int(answer.status.code),
            contentType: answer.contentType
        )
        error.retryAfter = answer.headers.retryAfter(now: wallClock())
        return error
    }

    /// A web page, an empty body, JSON of another service: the answer of something that is no Data API, or of the web server
    /// in front of one that is down.
    func notDataAPI(_ answer: HTTPResponse, underlying: (any Error)? = nil) -> FMRest.APIError {
        switch answer.status {
        case .payloadTooLarge: return requestTooLarge(answer)
        case .uriTooLong, .requestHeaderFieldsTooLarge: return urlTooLong(answer)
        default: break
        }
        let reason: String
        var hint = answer.statusHint
        if answer.body.readableBytes == 0 {
            reason = "The answer has no body."
        } else if answer.wantsHTTPS {
            reason = "The server speaks HTTPS on this port, and was asked in plain HTTP."
            hint = HTTPClientError(code: .tlsServer, outcome: .answered).hint
        } else if let title = answer.pageTitle {
            reason = "The answer is a web page titled \"\(title)\"."
        } else {
            reason = "The answer is no JSON of the Data API."
        }
        var error = failure(.notDataAPI, reason, answer)
        error.hint = hint
        error.underlying = underlying
        return error
    }

    /// RFC 9110 §15.5.14: the server refuses to process the request. As a rule it is a web server's answer, and the engine behind
    /// it has not seen the request.
    private func requestTooLarge(_ answer: HTTPResponse) -> FMRest.APIError {
        var error = failure(
            .invalidRequest,
            "The request is larger than the server accepts, which has not carried it out.",
            answer
        )
        error.hint =
            "Send less at once, or raise the limit of the web server in front of the Data API (client_max_body_size of "
            + "nginx, LimitRequestBody of Apache)."
        return error
    }

    /// RFC 9110 §15.5.15, and RFC 6585 §5 for servers that count the URL among the headers.
    private func urlTooLong(_ answer: HTTPResponse) -> FMRest.APIError {
        var error = failure(
            .invalidRequest,
            "The URL is longer than the server accepts, which has not carried out the request.",
            answer
        )
        error.hint = FMRest.APIError.hintAtLength
        return error
    }

    private func failure(_ code: FMRest.APIError.Code, _ reason: String, _ answer: HTTPResponse) -> FMRest.APIError {
        var error = FMRest.APIError(
            code,
            reason: reason,
            httpStatus: Int(answer.status.code),
            contentType: answer.contentType
        )
        error.retryAfter = answer.headers.retryAfter(now: wallClock())
        return error
    }
}

extension HTTPResponse {
    /// A success whose body is an object. An error answer with a body that cannot be read may come from anything on the way.
    fileprivate var looksLikeDataAPI: Bool {
        (200..<300).contains(status.code) && body.readableBytesView.first { !$0.isJSONSpace } == UInt8(ascii: "{")
    }

    fileprivate var contentType: String? { headers.first(name: "Content-Type") }

    /// The `<title>` of an HTML body, from its first kilobyte.
    fileprivate var pageTitle: String? {
        let start = String(decoding: body.readableBytesView.prefix(1024), as: UTF8.self)
        guard let open = start.range(of: "<title>", options: .caseInsensitive),
            let close = start.range(of: "</title>", options: .caseInsensitive, range: open.upperBound..<start.endIndex)
        else { return nil }
        let title = start[open.upperBound..<close.lowerBound].trimmingCharacters(in: .whitespacesAndNewlines)
        return title.isEmpty ? nil : title
    }

    /// What nginx, Apache and Go's servers send to those who speak plain HTTP on a port for HTTPS.
    fileprivate var wantsHTTPS: Bool {
        guard status == .badRequest else { return false }
        let page = String(decoding: body.readableBytesView.prefix(1024), as: UTF8.self)
        return page.contains("plain HTTP request was sent to HTTPS port")
            || page.contains("speaking plain HTTP to an SSL-enabled server port")
            || page.contains("sent an HTTP request to an HTTPS server")
    }

    fileprivate var statusHint: String? {
        switch status.code {
        case 401: "The session or the Claris ID token may have expired."
        case 404: "Is the Data API enabled on this server, and is the version in the path one it has?"
        case 429: "The server, or a proxy in front of it, takes no more requests of this client for the moment."
        case 502, 503, 504: "The Data API engine is stopped, restarting or overloaded."
        default: "Is the Data API enabled on this server?"
        }
    }
}

extension UInt8 {
    fileprivate var isJSONSpace: Bool {
        // The first byte of a UTF-8 byte order mark counts too: some files that tools recorded begin with one.
        self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 || self == 0xEF || self == 0xBB || self == 0xBF
    }
}

import FMHTTP
import Foundation
import NIOCore

/// Reads an HTTP answer as a Data API answer. Its messages are checked before its status and before the response is
/// decoded, because the response of an error answer is empty.
///
/// There is one reader per server: the memory of keys and types from one answer makes the next one faster to read.
package final class AnswerReader: Sendable {
    let options: DecodingOptions
    let contexts: DecodingContexts
    private let wallClock: @Sendable () -> Date

    /// - Parameters:
    ///   - recordDecoder: the user's own decoder for records.
    ///   - wallClock: returns the current date.
    init(options: DecodingOptions, recordDecoder: JSONDecoder?, wallClock: @escaping @Sendable () -> Date) {
        self.wallClock = wallClock
        self.options = options
        contexts = DecodingContexts(options: options, recordDecoder: recordDecoder)
    }

    /// Returns a reader for one answer with records, which uses FileMaker's rules or the decoder of the configuration.
    func recordReader<R: Decodable, P: Decodable>() -> RecordResponseReader<R, P> {
        RecordResponseReader(context: contexts.take())
    }

    /// Ends a reader whose answer was read to its end.
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

    /// Throws the error that FileMaker reports, if it reports one.
    func check(_ messages: [DataAPI.Message], of answer: HTTPResponse) throws(FMRest.APIError) {
        guard let first = messages.first else {
            throw failure(.decoding, "The answer has no message, so it says neither success nor error.", answer)
        }
        if !first.isSuccess { throw fileMakerError(first, all: messages, answer) }
    }

    /// The error for a body that could not be read to its end: either an unexpected form of a Data API answer, or an
    /// answer of something else.
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
        // The status 413 says more than the message's code.
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

    /// The error for a web page, an empty body, or JSON of another service: the answer of a server without the Data
    /// API, or of the web server in front of a stopped one.
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

    /// RFC 9110 §15.5.14: the server refuses to process the request. Usually a web server answers this, and the engine
    /// behind it has not received the request.
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

    /// RFC 9110 §15.5.15, and RFC 6585 §5 for servers that count the URL as a header.
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
    /// Whether it is a success whose body begins like an object. An error answer with an unreadable body may come from
    /// any server on the way.
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

    /// Whether it is the answer that nginx, Apache and Go's servers send to plain HTTP on a port for HTTPS.
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
        // The bytes of a UTF-8 byte order mark count as space: some files recorded by tools begin with one.
        self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 || self == 0xEF || self == 0xBB || self == 0xBF
    }
}

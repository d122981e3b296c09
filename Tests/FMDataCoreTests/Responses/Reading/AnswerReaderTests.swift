import CustomDump
import FMData
import FMHTTP
import Foundation
import NIOCore
import Testing

@testable import FMDataCore

/// Every kind of answer that a server or a proxy in front of it can give.
@Suite struct AnswerReaderTests {
    struct Thing: Decodable, Equatable {
        var size: Int
    }

    @Test func aSuccessIsDecoded() throws {
        let body = #"{"response":{"size":3},"messages":[{"code":"0","message":"OK"}]}"#
        expectNoDifference(try read(Thing.self, body), Thing(size: 3))
    }

    @Test func messagesMayComeFirstAndUnknownKeysMayStandBesideThem() throws {
        let body = #"{"HTTPCode":200,"messages":[{"message":"OK","code":0}],"response":{"size":3},"HTTPMessage":"OK"}"#
        expectNoDifference(try read(Thing.self, body), Thing(size: 3))
    }

    @Test func aByteOrderMarkIsSkipped() throws {
        let body = "\u{FEFF}" + #"{"response":{"size":3},"messages":[{"code":"0"}]}"#
        expectNoDifference(try read(Thing.self, body), Thing(size: 3))
    }

    @Test func theCodeDecidesBeforeTheStatus() throws {
        let error = try failure(
            #"{"response":{},"messages":[{"code":"401","message":"No records match"}]}"#,
            status: .ok
        )
        expectNoDifference(error.fileMakerCode, .noRecordsMatch)
        expectNoDifference(error.httpStatus, 200)
        expectNoDifference(error.code, .fileMaker)
    }

    @Test func everyMessageIsKeptAndTheFirstDecides() throws {
        let error = try failure(
            #"{"response":{},"messages":[{"code":"504","message":"Unique"},{"code":"800"}]}"#,
            status: .internalServerError
        )
        expectNoDifference(error.fileMakerCode?.rawValue, 504)
        expectNoDifference(error.messages, [.init(code: "504", message: "Unique"), .init(code: "800", message: nil)])
    }

    /// Some hosts answer an error with messages only.
    @Test func aRefusalMayComeWithoutAResponse() throws {
        let error = try failure(
            #"{"messages":[{"code":"802","message":"Unable to open file"}]}"#,
            status: .internalServerError
        )
        expectNoDifference(error.code, .fileMaker)
        expectNoDifference(error.fileMakerCode?.rawValue, 802)
    }

    @Test func aCodeThatIsNoNumberIsKeptAsText() throws {
        let error = try failure(#"{"response":{},"messages":[{"code":"E-17","message":"odd"}]}"#, status: .ok)
        expectNoDifference(error.code, .fileMaker)
        expectNoDifference(error.fileMakerCode, nil)
        expectNoDifference(error.messages.first?.code, "E-17")
    }

    @Test func aCodeBeyondEveryIntegerIsKeptAsText() throws {
        let error = try failure(
            #"{"response":{},"messages":[{"code":"99999999999999999999"}]}"#,
            status: .internalServerError
        )
        expectNoDifference(error.messages.first?.code, "99999999999999999999")
    }

    @Test func noMessageSaysNothing() throws {
        expectNoDifference(try failure(#"{"response":{"size":3},"messages":[]}"#, status: .ok).code, .decoding)
    }

    @Test func aPageHasATitleAndAHint() throws {
        let page = "<html><head><title> 502 Bad\nGateway </title></head></html>"
        let error = try failure(page, status: .badGateway, contentType: "text/html")
        expectNoDifference(error.code, .notDataAPI)
        expectNoDifference(error.httpStatus, 502)
        expectNoDifference(error.contentType, "text/html")
        #expect(error.reason.contains("502 Bad\nGateway"))
        #expect(error.hint != nil)
        #expect(error.isRetryable)
    }

    @Test func aPageWithStatus200AsksWhetherTheDataAPIIsEnabled() throws {
        let error = try failure("<html></html>", status: .ok, contentType: "text/html")
        expectNoDifference(error.code, .notDataAPI)
        #expect(error.hint?.contains("enabled") == true)
        #expect(!error.isRetryable)
    }

    @Test func anEmptyBody() throws {
        let error = try failure("", status: .notFound)
        expectNoDifference(error.code, .notDataAPI)
        #expect(error.reason.contains("no body"))
    }

    @Test(arguments: [
        "{", "[]", "null", "3", #"{"response":{"#, #"{"response":{},"messages":{}}"#, #"{"foo":1}"#, "\u{0}",
        #"{"messages":[{"code":"0"}]}"#,
    ])
    func whatIsNoEnvelopeIsATypedError(body: String) throws {
        let error = try failure(body, status: .ok)
        #expect([.decoding, .notDataAPI].contains(error.code))
    }

    @Test func aValueThatDoesNotFitSaysWhere() throws {
        let error = try failure(#"{"response":{"size":"many"},"messages":[{"code":"0"}]}"#, status: .ok)
        expectNoDifference(error.code, .decoding)
        #expect(error.description.contains("size"))
        #expect(!error.description.contains("many"), "values are not printed")
    }

    // MARK: Reading

    private func read<T: Decodable>(_ type: T.Type, _ body: String) throws -> T {
        try AnswerReader().read(type, from: answer(body, .ok, "application/json; charset=utf-8"))
    }

    private func failure(
        _ body: String,
        status: HTTPResponseStatus,
        contentType: String = "application/json"
    ) throws -> FMRest.APIError {
        do {
            let value = try AnswerReader().read(Thing.self, from: answer(body, status, contentType))
            throw Unexpected(description: "read \(value)")
        } catch let error as FMRest.APIError {
            return error
        }
    }

    private func answer(_ body: String, _ status: HTTPResponseStatus, _ contentType: String) -> HTTPResponse {
        HTTPResponse(status: status, headers: ["Content-Type": contentType], body: ByteBuffer(string: body))
    }

    struct Unexpected: Error, CustomStringConvertible {
        var description: String
    }
}

import CustomDump
import FMHTTP
import Foundation
import Testing

@testable import FMData

/// What is set on `Config` reaches the HTTP client, each setting its own.
struct ConfigTests {
    @Test func theDefaultsAreThoseOfTheirDocumentation() {
        let http = DataAPI.Config().httpConfiguration
        expectNoDifference(http.maximumConnectionsPerOrigin, 16)
        expectNoDifference(http.maximumBodyBytes, 1 << 30)
        expectNoDifference(http.delivery, .background)
        expectNoDifference(http.allowsPlainHTTP, .loopbackOnly)
        expectNoDifference(http.tls, TLSOptions())
        expectNoDifference(http.timeouts.connect, .seconds(10))
        expectNoDifference(http.timeouts.firstByte, .seconds(120))
        expectNoDifference(http.timeouts.idle, .seconds(60))
        expectNoDifference(http.timeouts.minimumRate, 1000)
        expectNoDifference(http.timeouts.total, nil)
    }

    @Test func everySettingArrives() {
        var config = DataAPI.Config()
        config.maximumConnections = 3
        config.maximumResponseBytes = 1000
        config.delivery = .eventLoop
        config.plainHTTP = .anywhereUnencrypted
        config.timeouts.connect = .seconds(1)
        config.timeouts.firstByte = .seconds(2)
        config.timeouts.idle = .seconds(3)
        config.timeouts.minimumRate = 5
        config.timeouts.total = .seconds(4)
        let http = config.httpConfiguration
        expectNoDifference(http.maximumConnectionsPerOrigin, 3)
        expectNoDifference(http.maximumBodyBytes, 1000)
        expectNoDifference(http.delivery, .eventLoop)
        expectNoDifference(http.allowsPlainHTTP, .anywhere)
        expectNoDifference(http.timeouts.connect, .seconds(1))
        expectNoDifference(http.timeouts.firstByte, .seconds(2))
        expectNoDifference(http.timeouts.idle, .seconds(3))
        expectNoDifference(http.timeouts.minimumRate, 5)
        expectNoDifference(http.timeouts.total, .seconds(4))
    }

    @Test func everythingAboutTLSArrives() {
        var config = DataAPI.Config()
        config.tls.roots = .systemAnd(file: "ca.pem")
        config.tls.clientCertificate = .init(chainFile: "chain.pem", keyFile: "key.pem")
        config.tls.pinnedPublicKeys = ["A", "B", "A"]
        var expected = TLSOptions(trust: .system(and: [.file("ca.pem")]))
        expected.identity = .init(certificateChain: .file("chain.pem"), privateKey: .file("key.pem"))
        expected.pinnedKeys = ["A", "B"]
        expectNoDifference(config.httpConfiguration.tls, expected)

        config.tls = .init()
        config.tls.roots = .only(file: "ca.pem")
        config.tls.dangerouslySkipsVerification = true
        expected = TLSOptions(trust: .only([.file("ca.pem")]))
        expected.verification = .noneInsecureForDevelopmentOnly
        expectNoDifference(config.httpConfiguration.tls, expected)
    }

    // MARK: One format

    @Test func theFormatIsWhatDateFormatsSayInWhateverOrderThingsAreSet() throws {
        var config = DataAPI.Config()
        config.dateFormats = .iso8601
        config.decoding = DecodingOptions()
        config.decoding.keys = .withoutTable
        config.encoding = EncodingOptions(values: ValueOptions(timeZone: .gmt))
        expectNoDifference(config.dateFormats, .iso8601)
        expectNoDifference(config.decoding.values.format, .iso)
        expectNoDifference(config.encoding.values.format, .iso)
        config.dateFormats = .us
        expectNoDifference(config.decoding.values.format, .us)
        expectNoDifference(config.encoding.values.format, .us)
    }

    @Test func aFormatThatIsGivenInTheOptionsIsAskedFor() throws {
        let german = try ValueFormat(date: "dd.MM.yyyy")
        var config = DataAPI.Config()
        config.decoding.values.format = .iso
        expectNoDifference(config.dateFormats, .iso8601)
        expectNoDifference(config.encoding.values.format, .iso)
        config.encoding = EncodingOptions(values: ValueOptions(format: german))
        expectNoDifference(config.dateFormats, .file(german))
        expectNoDifference(config.decoding.values.format, german)
        config.decoding = DecodingOptions(values: ValueOptions(format: .us))
        expectNoDifference(config.dateFormats, .us)
    }

    @Test func optionsAreEqualWhetherTheDefaultWasGivenOrNot() {
        expectNoDifference(ValueOptions(), ValueOptions(format: .us))
        #expect(Set([ValueOptions(), ValueOptions(format: .us), ValueOptions(format: .iso)]).count == 2)
    }
}

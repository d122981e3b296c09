import CustomDump
import FMData
import FMModel
import Foundation
import Testing

@testable import FMDataCLI

/// What is said of facts that no host on this machine shows.
@Suite struct DoctorFindingTests {
    private typealias Way = DataAPI.ConnectionReport
    private typealias Certificate = DataAPI.ConnectionReport.Certificate

    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func failure(_ code: DataAPI.TransportError.Code, _ text: String? = nil) -> DataAPI.TransportError {
        DataAPI.TransportError(code: code, outcome: .notSent, underlying: text)
    }

    // MARK: Names and addresses

    @Test func aNameThatIsLookedUp() {
        var way = Way(
            host: "fms.example.com",
            port: 443,
            lookUpTime: .milliseconds(12),
            addresses: [.init(text: "2001:db8::17", time: .zero), .init(text: "192.0.2.17", time: .milliseconds(8))]
        )
        expectNoDifference(
            DoctorFinding.name(way),
            .ok("fms.example.com is 2001:db8::17, 192.0.2.17, looked up in 12 ms")
                .with(["milliseconds": 12, "addresses": 2])
        )
        way.lookUpTime = .seconds(5)
        expectNoDifference(DoctorFinding.name(way).status, .warning)
        way = Way(host: "proxy.example.com", port: 3128, isProxy: true, failure: failure(.unknownHost, "not known"))
        expectNoDifference(
            DoctorFinding.name(way).found,
            "the proxy proxy.example.com has no address: not known"
        )
    }

    @Test func anIPv4AddressThatDoesNotAnswerAndOneThatIsUnreachable() {
        let way = Way(
            host: "fms.example.com",
            port: 443,
            addresses: [
                .init(text: "2001:db8::17", time: .zero, failure: failure(.connectFailed, "Network is unreachable")),
                .init(text: "192.0.2.17", time: .seconds(2), failure: failure(.connectTimeout)),
                .init(text: "192.0.2.18", time: .milliseconds(8)),
            ]
        )
        let finding = DoctorFinding.connect(way)
        expectNoDifference(
            finding.found,
            "2001:db8::17: Network is unreachable; 192.0.2.17 does not answer; 192.0.2.18 answers in 8 ms, port 443"
        )
        expectNoDifference(
            finding.advice,
            [
                "Clients that try the address first lose time with each connection, and some fail. Open port 443 for "
                    + "192.0.2.17, or remove its A record from DNS."
            ]
        )
        expectNoDifference(finding.figures["milliseconds"], 8)
    }

    @Test func proxyVariablesWithoutAProxyInForce() {
        let way = Way(host: "fms.example.com", port: 443)
        expectNoDifference(DoctorFinding.proxy(way, variables: []), .ok("none is used"))
        expectNoDifference(
            DoctorFinding.proxy(way, variables: ["https_proxy", "no_proxy"]),
            .ok("none is used; set: https_proxy, no_proxy")
        )
    }

    @Test func aPortThatTakesConnectionsAndSaysNothing() {
        let way = Way(host: "fms.example.com", port: 22, failure: failure(.connectTimeout))
        let finding = DoctorFinding.tls(way, isPlain: false)
        expectNoDifference(finding.status, .failed)
        expectNoDifference(
            finding.advice,
            ["The port takes connections and says nothing: is it the one of the web server?"]
        )
    }

    @Test func theProtocolThatIsChosen() {
        let tls = Way.TLS(version: "TLS 1.3", applicationProtocol: "h2", certificates: [], time: .milliseconds(7))
        expectNoDifference(
            DoctorFinding.tls(Way(host: "fms.example.com", port: 443, tls: tls), isPlain: false).found,
            "TLS 1.3 in 7 ms, h2 chosen of h2 and http/1.1"
        )
    }

    // MARK: Certificates

    private func certificate(
        _ subject: String = "US, fms.example.com",
        issuer: String = "US, Big Authority, Big Authority R3",
        days: Double = 100
    ) -> Certificate {
        Certificate(
            names: ["fms.example.com"],
            subject: subject,
            issuer: issuer,
            notBefore: Int(now.timeIntervalSince1970) - 86_400,
            notAfter: Int(now.timeIntervalSince1970 + days * 86_400),
            fingerprint: "A8:0F"
        )
    }

    private func finding(
        _ certificates: [Certificate],
        _ refusal: DataAPI.TransportError.Code? = nil
    ) -> DoctorFinding {
        DoctorFinding.certificate(
            Way.TLS(version: "TLS 1.3", certificates: certificates, time: .zero),
            refusal.map { failure($0) },
            host: "fms.example.com",
            now: now,
            DoctorLimits()
        )
    }

    @Test func aCertificateThatIsAccepted() {
        expectNoDifference(
            finding([certificate()]),
            .ok("for fms.example.com, by \"Big Authority R3\", valid for 100 days (until 2027-04-25)").with([
                "days": 100
            ])
        )
        expectNoDifference(finding([]).found, "the host shows none")
    }

    @Test func anAuthorityThatExpiresFirst() {
        let intermediate = certificate("US, Big Authority R3", issuer: "US, Big Root", days: 3.5)
        let finding = finding([certificate(), intermediate])
        expectNoDifference(finding.status, .warning)
        expectNoDifference(finding.figures, ["days": 3])
        #expect(finding.advice[0].hasPrefix("Renew the certificates of its authority"), "\(finding)")
    }

    @Test func whatAnUntrustedAuthorityMayBe() {
        let alone = finding([certificate()], .certificateUntrusted)
        expectNoDifference(
            alone.advice,
            [
                "If it is your own authority, trust it: --ca FILE, the certificate of \"Big Authority R3\" in PEM.",
                "If it belongs to a public authority, the host does not show its intermediate certificate: import the "
                    + "certificate anew, together with that one.",
                "If it belongs to your company or an antivirus program, a proxy opens the connections: trust it, too.",
            ]
        )
        let root = certificate("US, Root", issuer: "US, Root")
        let whole = finding([certificate(issuer: "US, Root"), root], .certificateUntrusted)
        expectNoDifference(
            whole.advice,
            [
                "If this is your host, save what it shows: "
                    + "fmdata doctor --host fms.example.com --save-certificates host.pem",
                "Compare the fingerprint with the host's own: SHA-256 A8:0F",
                "If they are the same, trust it: fmdata doctor --host fms.example.com --ca host.pem",
            ]
        )
    }

    @Test func theCertificateThatFileMakerServerBringsAlong() {
        let own = certificate("US, FileMaker Inc., FMI Default", issuer: "US, FileMaker Inc., FMI Default")
        #expect(finding([own], .certificateUntrusted).advice[0].contains("which is for tests only"))
    }

    @Test func aCertificateIsNotBlamedForAnotherFailure() {
        expectNoDifference(finding([certificate()], .firstByteTimeout).status, .ok)
        #expect(finding([certificate()], .certificateNotYetValid).advice[0].contains("clock"))
        #expect(finding([certificate()], .certificateInvalid).advice.count == 3)
    }

    // MARK: Hosts

    @Test func plainHTTPToAnotherMachine() {
        let error = FMRest.APIError(
            .invalidRequest,
            reason: "plain HTTP is allowed for loopback hosts only",
            underlying: failure(.insecureScheme)
        )
        let finding = DoctorFinding.http(DoctorGreeting(result: .failure(error), isPlain: true, date: now))
        expectNoDifference(finding.status, .failed)
        expectNoDifference(finding.exit, .unreachable)
    }

    @Test func aHostThatIsStarting() {
        let error = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: 1701, httpStatus: 503)
        let finding = DoctorFinding.host(DoctorGreeting(result: .failure(error), isPlain: false, date: now))
        expectNoDifference(finding.found, "FileMaker error 1701: host cannot receive requests now (HTTP 503)")
        expectNoDifference(finding.status, .failed)
    }

    @Test func dates() {
        expectNoDifference(HTTPDate.date("Sun, 06 Nov 1994 08:49:37 GMT"), Date(timeIntervalSince1970: 784_111_777))
        expectNoDifference(HTTPDate.date("yesterday"), nil)
    }

    // MARK: Speed

    private func heads(_ milliseconds: [Int]) -> [AnswerHead] {
        milliseconds.map { AnswerHead(status: 200, headers: [:], time: .milliseconds($0)) }
    }

    private func way(connecting time: Duration) -> Way {
        Way(host: "fms.example.com", port: 443, addresses: [.init(text: "192.0.2.17", time: time)])
    }

    @Test func figuresOfSpeed() {
        let times = DoctorAnswerTimes(way: way(connecting: .milliseconds(4)), heads: heads(Array(1...19) + [900]))
        let finding = DoctorFinding.latency(times, DoctorLimits())
        expectNoDifference(finding.status, .ok, "one slow answer of twenty is no slow host")
        expectNoDifference(finding.figures, ["count": 20, "p50": 10, "p95": 19, "worst": 900, "connect": 4])
    }

    @Test func whoTakesTheTime() {
        let slow = heads(Array(repeating: 900, count: 20))
        let host = DoctorFinding.latency(.init(way: way(connecting: .milliseconds(4)), heads: slow), DoctorLimits())
        #expect(host.advice[0].hasPrefix("The host takes most of it"), "\(host)")
        let line = DoctorFinding.latency(.init(way: way(connecting: .milliseconds(850)), heads: slow), DoctorLimits())
        #expect(line.advice[0].hasPrefix("The network takes most of it"), "\(line)")
    }

    @Test func aMeasurementThatEnds() {
        let error = FMRest.APIError(.timeout, reason: "No answer.", underlying: failure(.firstByteTimeout))
        let times = DoctorAnswerTimes(way: way(connecting: .zero), heads: heads([1]), failure: error)
        let finding = DoctorFinding.latency(times, DoctorLimits())
        expectNoDifference(finding.status, .failed)
        expectNoDifference(finding.exit, .unreachable)
    }

    // MARK: Accounts

    @Test func aListThatIsRefused() {
        let error = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: 212, httpStatus: 401)
        let finding = DoctorFinding.databases(.failure(error), wanted: "Shop", asAccount: true)
        expectNoDifference(finding.status, .warning, "the login says more")
        expectNoDifference(
            DoctorFinding.databases(.success([]), wanted: nil, asAccount: false).advice,
            ["Name one: --database NAME. Hosts show their list only to accounts: give --user and FM_PASSWORD."]
        )
    }

    @Test func anUnknownRefusal() {
        let error = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: 953, httpStatus: 500)
        let finding = DoctorFinding.login(error, to: "Shop", listed: nil)
        expectNoDifference(finding.found, "FileMaker error 953: limit of data sent out is exceeded (HTTP 500)")
    }

    /// The host lists the file, so it is open.
    @Test func aFileThatIsListedAndCannotBeOpened() {
        let error = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: 802, httpStatus: 500)
        let finding = DoctorFinding.login(error, to: "Shop", listed: ["Shop"])
        #expect(finding.advice[0].contains("fmrest"), "\(finding)")
    }
}

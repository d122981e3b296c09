import CustomDump
import Testing

@testable import FMHTTP

struct SetupStateMachineTests {
    private typealias Machine = SetupStateMachine

    @Test func plain() {
        var machine = Machine(usesProxy: false, usesTLS: false)
        #expect(machine.opened() == .succeed)
        #expect(machine.closed() == nil)
        #expect(machine.failed() == false)
    }

    @Test func encrypted() {
        var machine = Machine(usesProxy: false, usesTLS: true)
        #expect(machine.opened() == .startTLS)
        #expect(machine.handshakeCompleted(refusal: nil) == .succeed)
    }

    @Test func encryptedThroughAProxy() {
        var machine = Machine(usesProxy: true, usesTLS: true)
        #expect(machine.opened() == .sendConnect)
        #expect(machine.isTunnelling)
        #expect(machine.proxyAnswered(status: 200, hasLeftover: false) == .startTLS)
        #expect(!machine.isTunnelling)
        #expect(machine.handshakeCompleted(refusal: nil) == .succeed)
    }

    @Test func aProxyThatRefuses() {
        for (status, code) in [
            (407, HTTPClientError.Code.proxyAuthenticationRequired), (403, .proxyFailure), (302, .proxyFailure),
        ] {
            var machine = Machine(usesProxy: true, usesTLS: true)
            _ = machine.opened()
            guard case .fail(code, _) = machine.proxyAnswered(status: UInt(status), hasLeftover: false) else {
                Issue.record("\(status)")
                continue
            }
            #expect(machine.failed() == false)
        }
    }

    @Test func aProxyThatSpeaksForTheServer() {
        var machine = Machine(usesProxy: true, usesTLS: false)
        _ = machine.opened()
        guard case .fail(.proxyFailure, _) = machine.proxyAnswered(status: 200, hasLeftover: true) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func aCertificateThatIsRefused() {
        var machine = Machine(usesProxy: false, usesTLS: true)
        _ = machine.opened()
        let refusal = (code: HTTPClientError.Code.certificatePinMismatch, detail: "why")
        #expect(machine.handshakeCompleted(refusal: refusal) == .fail(.certificatePinMismatch, detail: "why"))
    }

    @Test func closedOnTheWay() {
        var machine = Machine(usesProxy: true, usesTLS: true)
        _ = machine.opened()
        guard case .fail(.proxyFailure, _)? = machine.closed() else {
            Issue.record("not reported")
            return
        }
        #expect(machine.closed() == nil)
    }
}

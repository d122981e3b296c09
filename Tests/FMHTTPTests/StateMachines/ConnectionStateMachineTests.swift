import CustomDump
import Testing

@testable import FMHTTP

struct ConnectionStateMachineTests {
    private typealias Failure = RequestStateMachine.Failure

    private func running(bodyLength: Int = 0, maximum: Int = 100, closes: Bool = false) -> ConnectionStateMachine {
        var machine = ConnectionStateMachine()
        #expect(machine.start(bodyLength: bodyLength, maximumBodyBytes: maximum, closesAfterwards: closes) == .send)
        return machine
    }

    private let keepAlive = ResponseParser.Persistence(keepsAlive: true, timeout: nil)

    // MARK: Complete exchanges

    @Test func anExchangeAndAnother() {
        var machine = ConnectionStateMachine()
        for served in 1...2 {
            #expect(machine.start(bodyLength: 0, maximumBodyBytes: 10, closesAfterwards: false) == .send)
            #expect(machine.phase == .awaitingHead)
            #expect(machine.outcome == .unknown)
            #expect(machine.headReceived(.init(keepsAlive: true, timeout: 5), bodyLength: .fixed(3)) == nil)
            #expect(machine.phase == .receiving)
            #expect(machine.outcome == .answered)
            #expect(machine.bodyReceived(count: 3) == nil)
            #expect(machine.endReceived(hasLeftover: false) == .park(lifetime: 5))
            #expect(machine.servedCount == served)
        }
    }

    @Test func aClosedConnectionTakesNothing() {
        var machine = ConnectionStateMachine()
        #expect(machine.closed(hasBegun: false, detail: nil) == .none)
        #expect(machine.start(bodyLength: 0, maximumBodyBytes: 10, closesAfterwards: false) == .refuse)
    }

    // MARK: Keep or close

    @Test func theServerSaysClose() {
        var machine = running()
        _ = machine.headReceived(.init(keepsAlive: false, timeout: nil), bodyLength: .none)
        #expect(machine.endReceived(hasLeftover: false) == .close)
    }

    @Test func theRequestSaidClose() {
        var machine = running(closes: true)
        _ = machine.headReceived(keepAlive, bodyLength: .none)
        #expect(machine.endReceived(hasLeftover: false) == .close)
    }

    @Test func moreBytesThanTheResponse() {
        var machine = running()
        _ = machine.headReceived(keepAlive, bodyLength: .none)
        #expect(machine.endReceived(hasLeftover: true) == .close)
    }

    @Test func theServerKeepsItForNoTime() {
        var machine = running()
        _ = machine.headReceived(.init(keepsAlive: true, timeout: 0), bodyLength: .none)
        #expect(machine.endReceived(hasLeftover: false) == .close)
    }

    @Test func anAnswerBeforeTheBodyIsSent() {
        var machine = running(bodyLength: 10)
        #expect(machine.becameWritable() == true)
        _ = machine.headReceived(keepAlive, bodyLength: .none)
        #expect(machine.endReceived(hasLeftover: false) == .close)
    }

    @Test func anAnswerWhileTheBodyIsSentToTheEnd() {
        var machine = running(bodyLength: 10)
        #expect(machine.becameWritable() == true)
        _ = machine.headReceived(keepAlive, bodyLength: .fixed(1))
        #expect(machine.chunkOffered(count: 10, isWritable: true) == .writeLast)
        #expect(machine.endReceived(hasLeftover: false) == .park(lifetime: nil))
    }

    // MARK: Sending

    @Test func aBodyIsPulledChunkByChunk() {
        var machine = running(bodyLength: 10)
        #expect(machine.phase == .sending)
        #expect(machine.becameWritable() == true)
        #expect(machine.becameWritable() == false, "one chunk at a time")
        #expect(machine.chunkOffered(count: 4, isWritable: true) == .writeAndPull)
        #expect(machine.chunkOffered(count: 3, isWritable: false) == .write)
        #expect(machine.becameWritable() == true)
        #expect(machine.chunkOffered(count: 3, isWritable: true) == .writeLast)
        #expect(machine.phase == .awaitingHead)
        #expect(machine.sourceEnded() == nil)
        #expect(machine.becameWritable() == false)
    }

    @Test func aBodyThatIsTooLong() {
        let failure = Failure(code: .bodyLengthMismatch, outcome: .unknown)
        var machine = running(bodyLength: 10)
        _ = machine.becameWritable()
        #expect(machine.chunkOffered(count: 11, isWritable: true) == .fail(failure))

        machine = running(bodyLength: 1)
        _ = machine.becameWritable()
        _ = machine.chunkOffered(count: 1, isWritable: true)
        #expect(machine.chunkOffered(count: 0, isWritable: true) == .ignore)
        #expect(machine.chunkOffered(count: 1, isWritable: true) == .fail(failure))
    }

    @Test func aBodyThatIsTooShort() {
        var machine = running(bodyLength: 10)
        _ = machine.becameWritable()
        _ = machine.chunkOffered(count: 9, isWritable: true)
        #expect(machine.sourceEnded() == Failure(code: .bodyLengthMismatch, outcome: .unknown))
    }

    @Test func chunksThatNobodyAskedForAreTakenInOrder() {
        var machine = running(bodyLength: 10)
        _ = machine.becameWritable()
        #expect(machine.chunkOffered(count: 4, isWritable: false) == .write)
        #expect(machine.chunkOffered(count: 4, isWritable: false) == .write)
        #expect(machine.chunkOffered(count: 2, isWritable: false) == .writeLast)
    }

    // MARK: Receiving

    @Test func aBodyThatIsAnnouncedTooLarge() {
        var machine = running(maximum: 5)
        #expect(
            machine.headReceived(keepAlive, bodyLength: .fixed(6))
                == Failure(code: .responseTooLarge, outcome: .answered)
        )
    }

    @Test func aBodyThatBecomesTooLarge() {
        var machine = running(maximum: 5)
        #expect(machine.headReceived(keepAlive, bodyLength: .chunked) == nil)
        #expect(machine.bodyReceived(count: 5) == nil)
        #expect(machine.bodyReceived(count: 1) == Failure(code: .responseTooLarge, outcome: .answered))
    }

    // MARK: Demand

    @Test func readingFollowsDemand() {
        var machine = running()
        #expect(machine.readCompleted(subscriberWantsMore: false) == true, "a head is always read")
        _ = machine.headReceived(keepAlive, bodyLength: .chunked)
        #expect(machine.readCompleted(subscriberWantsMore: true) == true)
        #expect(machine.readCompleted(subscriberWantsMore: false) == false)
        #expect(machine.phase == .paused)
        #expect(machine.demanded() == true)
        #expect(machine.phase == .receiving)
        #expect(machine.demanded() == false, "a read is under way already")
    }

    @Test func anIdleConnectionIsReadToSeeItsEnd() {
        var machine = ConnectionStateMachine()
        #expect(machine.readCompleted(subscriberWantsMore: false) == true)
        machine.abandon()
        #expect(machine.readCompleted(subscriberWantsMore: true) == false)
    }

    // MARK: Ends

    @Test func closedBeforeTheAnswer() {
        var machine = running()
        let failure = Failure(code: .connectionClosed, outcome: .unknown, detail: "reset")
        #expect(machine.closed(hasBegun: false, detail: "reset") == .fail(failure))
        #expect(machine.closed(hasBegun: false, detail: nil) == .none)
    }

    @Test func closedWithinTheHead() {
        var machine = running()
        let failure = Failure(code: .truncatedBody, outcome: .unknown)
        #expect(machine.closed(hasBegun: true, detail: nil) == .fail(failure))
    }

    @Test func closedWithinTheBody() {
        var machine = running()
        _ = machine.headReceived(keepAlive, bodyLength: .chunked)
        let failure = Failure(code: .truncatedBody, outcome: .answered)
        #expect(machine.closed(hasBegun: true, detail: nil) == .fail(failure))
    }

    @Test func whatIsAbandonedIsNotReportedAgain() {
        var machine = running()
        machine.abandon()
        #expect(machine.closed(hasBegun: false, detail: nil) == .none)
        #expect(machine.chunkOffered(count: 1, isWritable: true) == .ignore)
    }
}

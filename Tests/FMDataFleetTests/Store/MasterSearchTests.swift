import CustomDump
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import FMDataFleet

/// Which Sentinels are asked for the master of a store, and what follows from their answers.
@Suite struct MasterSearchTests {
    private typealias Found = Result<StoreAddress.Place, StoreError>

    /// Sentinels at connections without a network, in the order in which they were opened.
    private final class Sentinels {
        private struct Opened: Sendable {
            let place: StoreAddress.Place
            let channel: NIOLoopBound<EmbeddedChannel>
        }

        private let loop = EmbeddedEventLoop()
        private let opened = NIOLockedValueBox<[Opened]>([])
        private var search: MasterSearch?
        private(set) var results: [Found] = []

        /// Begins the search. Of these hosts, those in `dead` cannot be reached.
        init(_ hosts: String..., dead: Set<String> = [], password: String? = nil) {
            var surroundings = FleetSurroundings(eventLoop: loop)
            surroundings.open = { [opened] opening in
                if case .host(let host, _) = opening.place, dead.contains(host) {
                    return opening.eventLoop.makeFailedFuture(ChannelError.connectTimeout(opening.limit))
                }
                return opening.eventLoop.makeCompletedFuture {
                    let channel = EmbeddedChannel(loop: try #require(opening.eventLoop as? EmbeddedEventLoop))
                    opened.withLockedValue {
                        $0.append(
                            Opened(place: opening.place, channel: NIOLoopBound(channel, eventLoop: channel.eventLoop))
                        )
                    }
                    _ = opening.setUp(channel)
                    try channel.connect(to: SocketAddress(unixDomainSocketPath: "s")).wait()
                    return channel
                }
            }
            var settings = StoreConnectionMachine.Settings()
            settings.password = password
            search = MasterSearch(
                for: "fleet",
                at: hosts.map { StoreAddress.Sentinel(host: $0) },
                settings: settings,
                dialer: StoreDialer(tls: nil, surroundings: surroundings, limit: .seconds(2)),
                report: { [weak self] in self?.results.append($0) }
            )
            search?.start()
            loop.run()
        }

        var places: [StoreAddress.Place] { opened.withLockedValue { $0.map(\.place) } }
        var openConnections: Int { opened.withLockedValue { $0.count { $0.channel.value.isActive } } }

        func cancel() { search?.cancel() }

        func advance(by amount: TimeAmount) { loop.advanceTime(by: amount) }

        /// What the last one was sent since the last call.
        func sent() throws -> String {
            var text = ""
            guard let channel = opened.withLockedValue({ $0.last?.channel }) else { return text }
            while let bytes = try channel.value.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
            return text
        }

        /// The last one answers.
        func answer(_ text: String) throws {
            guard let channel = opened.withLockedValue({ $0.last?.channel }) else { return }
            try channel.value.writeInbound(ByteBuffer(string: text))
            loop.run()
        }

        /// The last one answers to the greeting, up to the question.
        func greet() throws {
            try answer("%0\r\n")
            try answer("$0\r\n\r\n")
        }
    }

    private static let master = "*2\r\n$8\r\n10.0.0.7\r\n$4\r\n6380\r\n"

    @Test func theFirstThatKnowsTheMasterIsBelieved() throws {
        let sentinels = Sentinels("s1", "s2")
        try sentinels.greet()
        #expect(try sentinels.sent().hasSuffix("$8\r\nSENTINEL\r\n$23\r\nGET-MASTER-ADDR-BY-NAME\r\n$5\r\nfleet\r\n"))
        try sentinels.answer(Self.master)
        expectNoDifference(sentinels.results, [.success(.host("10.0.0.7", port: 6380))])
        expectNoDifference(sentinels.places, [.host("s1", port: 26379)])
        expectNoDifference(sentinels.openConnections, 0)
    }

    @Test func oneThatIsNotThereIsPassedOver() throws {
        let sentinels = Sentinels("s1", "s2", dead: ["s1"])
        try sentinels.greet()
        try sentinels.answer(Self.master)
        expectNoDifference(sentinels.results, [.success(.host("10.0.0.7", port: 6380))])
        expectNoDifference(sentinels.places, [.host("s2", port: 26379)])
    }

    @Test(arguments: [
        "_\r\n", "*-1\r\n", "*1\r\n$1\r\na\r\n", "*2\r\n$0\r\n\r\n$4\r\n6380\r\n", "*2\r\n$1\r\na\r\n$1\r\n0\r\n",
        "*2\r\n$1\r\na\r\n$5\r\n99999\r\n", "-ERR no such thing\r\n", "?\r\n",
    ])
    func anAnswerThatNamesNoMasterLeadsToTheNext(answer: String) throws {
        let sentinels = Sentinels("s1", "s2")
        try sentinels.greet()
        try sentinels.answer(answer)
        expectNoDifference(sentinels.results, [])
        try sentinels.greet()
        try sentinels.answer(answer)
        expectNoDifference(sentinels.results, [.failure(.noMaster)])
        expectNoDifference(sentinels.places, [.host("s1", port: 26379), .host("s2", port: 26379)])
        expectNoDifference(sentinels.openConnections, 0)
    }

    @Test func oneThatDoesNotAnswerIsLeftAfterTwoSeconds() throws {
        let sentinels = Sentinels("s1", "s2")
        try sentinels.greet()
        sentinels.advance(by: .seconds(2))
        try sentinels.greet()
        try sentinels.answer(Self.master)
        expectNoDifference(sentinels.results, [.success(.host("10.0.0.7", port: 6380))])
        expectNoDifference(sentinels.openConnections, 0)
    }

    @Test func theirPasswordIsTheirOwnAndARefusalIsTold() throws {
        let sentinels = Sentinels("s1", "s2", dead: ["s2"], password: "canary")
        #expect(try sentinels.sent().contains("$4\r\nAUTH\r\n$7\r\ndefault\r\n$6\r\ncanary\r\n"))
        try sentinels.answer("-WRONGPASS invalid username-password pair\r\n")
        expectNoDifference(sentinels.results, [.failure(StoreError(.refused, word: "WRONGPASS"))])
    }

    @Test func withoutSentinelsThereIsNoMaster() {
        expectNoDifference(Sentinels().results, [.failure(.noMaster)])
    }

    @Test func oneThatIsCancelledTellsNothing() throws {
        let sentinels = Sentinels("s1", "s2")
        try sentinels.greet()
        sentinels.cancel()
        expectNoDifference(sentinels.results, [])
        expectNoDifference(sentinels.openConnections, 0)
        expectNoDifference(sentinels.places, [.host("s1", port: 26379)])
    }
}

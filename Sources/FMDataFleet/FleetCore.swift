import FMData
import Logging
import NIOConcurrencyHelpers

/// A process of a fleet, without the part that seals tokens.
final class FleetCore: Sendable {
    /// Members by their channels, and by whose they are.
    private struct State {
        var byChannel: [String: SlotMember] = [:]
        var byMember: [MemberKey: SlotMember] = [:]
        var feeds: [DataAPI.Member: FeedMember] = [:]

        func feeds(of channel: String) -> [FeedMember] { feeds.values.filter { $0.channel == channel } }

        /// All feeds, in an order that does not depend on their addresses: a simulation repeats what happens.
        var feedsByChannel: [FeedMember] { feeds.values.sorted { $0.channel < $1.channel } }
    }

    private struct MemberKey: Hashable {
        let key: DataAPI.TokenStore.Key
        let member: DataAPI.Member
    }

    private let client: StoreClient
    private let settings: SlotMember.Settings
    private let feedSettings: FeedMember.Settings
    private let bucket: PollBucket
    private let sealer: Sealer
    private let surroundings: FleetSurroundings
    private let counting = FleetCounting()
    private let state: NIOLockedValueBox<State>

    init(
        store: StoreAddress,
        settings: SlotMember.Settings,
        feeds: FeedMember.Settings = FeedMember.Settings(),
        pollRateLimit: DataAPI.PollRateLimit = DataAPI.PollRateLimit(),
        sealer: Sealer,
        logger: Logger?,
        times: StoreClient.Times = .init(),
        surroundings: FleetSurroundings = FleetSurroundings()
    ) {
        let state = NIOLockedValueBox(State())
        self.state = state
        self.settings = settings
        feedSettings = feeds
        self.sealer = sealer
        self.surroundings = surroundings
        client = StoreClient(
            address: store,
            name: "fmdata-\(surroundings.name())",
            times: times,
            surroundings: surroundings,
            logger: logger,
            observer: StoreClient.Observer(
                message: { channel, text in
                    guard let text = String(validating: text, as: UTF8.self) else { return }
                    let (member, feeds) = state.withLockedValue { ($0.byChannel[channel], $0.feeds(of: channel)) }
                    member?.received(text)
                    for feed in feeds { feed.received(text) }
                },
                connected: { _ in
                    let (members, feeds) = state.withLockedValue {
                        (Array($0.byChannel.values), $0.feedsByChannel)
                    }
                    for member in members { member.connected() }
                    for feed in feeds { feed.connected() }
                }
            )
        )
        bucket = PollBucket(client: client, limit: pollRateLimit)
    }

    var counters: FleetCounters {
        var counters = counting.now
        counters.commands = client.commandCount
        return counters
    }

    var budget: DataAPI.SessionBudget {
        DataAPI.SessionBudget(
            take: { [self] request in try await member(of: request).take(request) },
            put: { [self] token, slot, life in try await member(of: slot.request).put(token, slot, life) },
            drop: { [self] _, slot in try await member(of: slot.request).drop(slot) },
            give: { [self] slot, life in await member(of: slot.request).give(slot, life) },
            full: { [self] slot in await member(of: slot.request).full(slot) },
            refused: { [self] slot, code in try await member(of: slot.request).refused(slot, code) },
            left: { [self] slot in member(of: slot.request).left(slot) }
        )
    }

    var liveExchange: DataAPI.LiveExchange {
        DataAPI.LiveExchange(
            turn: { [self] request, mustPoll in await feed(of: request).turn(mustPoll: mustPoll) },
            polled: { [self] request, poll in await feed(of: request).polled(poll) },
            hinted: { [self] request in state.withLockedValue { $0.feeds[request.member] }?.hinted() },
            rested: { [self] request in state.withLockedValue { $0.feeds[request.member] }?.rested() },
            left: { [self] request in
                let (feed, isLast) = state.withLockedValue { state in
                    let feed = state.feeds.removeValue(forKey: request.member)
                    return (feed, feed.map { state.feeds(of: $0.channel).isEmpty } ?? false)
                }
                feed?.rested()
                if let feed, isLast { client.unsubscribe(feed.channel) }
            }
        )
    }

    var pollGate: DataAPI.PollGate { DataAPI.PollGate { [bucket] host in try await bucket.turn(host) } }

    /// What the store knows of the pools that this process uses.
    func status() async throws -> FleetStatus {
        let (digests, feeds) = state.withLockedValue { state in
            (Set(state.byMember.keys.map { Self.digest(of: $0.key) }), Set(state.feeds.values.map(\.names)))
        }
        return try await FleetStatus(of: digests, feeds, client)
    }

    func shutdown() async {
        // Those that follow need not wait until a lease ends.
        for feed in state.withLockedValue({ $0.feedsByChannel }) { await feed.end() }
        await client.shutdown()
    }

    /// Names the pool of a login.
    private static func digest(of key: DataAPI.TokenStore.Key) -> String { String(key.digest.prefix(32)) }

    private func member(of request: DataAPI.SessionBudget.Request) -> SlotMember {
        let key = MemberKey(key: request.key, member: request.member)
        let (member, isNew, unused) = state.withLockedValue { state -> (SlotMember, Bool, [SlotMember]) in
            if let member = state.byMember[key] { return (member, false, []) }
            // Nobody tells when a database ends.
            let unused = state.byMember.filter(\.value.isUnused)
            for (key, member) in unused {
                state.byMember[key] = nil
                state.byChannel[member.channel] = nil
            }
            let member = SlotMember(
                digest: Self.digest(of: request.key),
                name: surroundings.name(),
                client: client,
                settings: settings,
                sealer: sealer,
                surroundings: surroundings,
                counters: counting
            )
            state.byMember[key] = member
            state.byChannel[member.channel] = member
            return (member, true, Array(unused.values))
        }
        for member in unused { client.unsubscribe(member.channel) }
        if isNew { client.subscribe(member.channel) }
        return member
    }

    private func feed(of request: DataAPI.LiveExchange.Request) -> FeedMember {
        let (feed, isFirst) = state.withLockedValue { state in
            if let feed = state.feeds[request.member] { return (feed, false) }
            let feed = FeedMember(
                request,
                client: client,
                settings: feedSettings,
                sealer: sealer,
                surroundings: surroundings,
                counters: counting
            )
            let isFirst = state.feeds(of: feed.channel).isEmpty
            state.feeds[request.member] = feed
            return (feed, isFirst)
        }
        if isFirst { client.subscribe(feed.channel) }
        return feed
    }
}

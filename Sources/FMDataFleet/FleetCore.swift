import FMData
import Logging
import NIOConcurrencyHelpers

/// A process of a fleet, without the part that seals tokens.
final class FleetCore: Sendable {
    /// Members by their channels, and by whose they are.
    private struct State {
        var byChannel: [String: SlotMember] = [:]
        var byMember: [MemberKey: SlotMember] = [:]
    }

    private struct MemberKey: Hashable {
        let key: DataAPI.TokenStore.Key
        let member: DataAPI.Member
    }

    private let client: StoreClient
    private let settings: SlotMember.Settings
    private let bucket: PollBucket
    private let sealer: Sealer
    private let surroundings: FleetSurroundings
    private let counting = FleetCounting()
    private let state: NIOLockedValueBox<State>

    init(
        store: StoreAddress,
        settings: SlotMember.Settings,
        pollRateLimit: DataAPI.PollRateLimit = DataAPI.PollRateLimit(),
        sealer: Sealer,
        logger: Logger?,
        times: StoreClient.Times = .init(),
        surroundings: FleetSurroundings = FleetSurroundings()
    ) {
        let state = NIOLockedValueBox(State())
        self.state = state
        self.settings = settings
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
                    state.withLockedValue { $0.byChannel[channel] }?.received(text)
                },
                connected: { _ in
                    for member in state.withLockedValue({ Array($0.byChannel.values) }) { member.connected() }
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

    var pollGate: DataAPI.PollGate { DataAPI.PollGate { [bucket] host in try await bucket.turn(host) } }

    /// What the store knows of the pools that this process uses.
    func status() async throws -> FleetStatus {
        try await FleetStatus(
            of: Set(state.withLockedValue { $0.byMember.keys.map { Self.digest(of: $0.key) } }),
            client
        )
    }

    func shutdown() async {
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
}

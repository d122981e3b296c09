#if Fleet
public import FMData
public import Logging
import NIOCore

/// Processes that share a number of sessions on a FileMaker host, and the polls of live queries, through Redis or
/// Valkey.
///
/// Without it, N processes open N times ``DataAPI/SessionConfiguration/maximumSessions`` sessions, and the same live
/// query polls N times as often. Give all of them the same store, keys and number of slots:
///
///     let fleet = Fleet(slots: 4, store: StoreAddress(host: "cache.example.com"), keys: keys)
///     var config = DataAPI.Config()
///     config.sessions.budget = fleet.budget
///     config.liveExchange = fleet.liveExchange
///     config.pollGate = fleet.pollGate
///     let server = DataAPI.Server(host: "fms.example.com", config: config)
///
/// Each login has slots of its own. A process keeps a slot while it uses it or nobody else wants it, and says so to the
/// store every three seconds; its calls ask the store for nothing. When others wait, a slot is passed on after the
/// request under way, 250 ms after it was taken at the earliest, with its session: no login.
///
/// | what happens | what follows |
/// |---|---|
/// | a process is killed | its slots are free 10 s later, with their sessions |
/// | it is killed during a login, or has no answer to it | the same; a session may stay (``FleetCounters/strays``) |
/// | a process stands still for longer than 10 s | its slots pass to others; when it goes on, it lets them go |
/// | the host refuses the password | one process asks once a minute, not each of them |
/// | the host is full | the whole fleet opens no more sessions than are open for a minute |
/// | the store does not answer | who has a session goes on; who has none opens one after `storePatience` |
/// | the store comes back empty | for 10 s holders say what they hold, and no slot is granted |
///
/// Of each live query that several processes have, one polls, the *leader*; each of the others polls once, and then
/// takes over what the leader has found:
///
/// | what happens | what follows |
/// |---|---|
/// | the leader is shut down, or its subscribers leave | another process polls at once |
/// | it is killed | another one polls 11 s later at the latest |
/// | it stands still for longer than 10 s | another one polls; what it finds too late is not passed on |
/// | a process writes, or is told of a change | the leader polls |
/// | a process lacks the privileges for the query | it does not lead |
/// | a poll finds changes of more than 256 KiB | each process polls once |
/// | the store does not answer for 20 s | each process polls, as many times slower as there were processes |
/// | the store comes back | one process polls; if it is empty, each polls once before; subscribers see no reset |
///
/// **The store** needs no persistence. It should not evict keys (`maxmemory-policy noeviction`), and be used by nobody
/// who must not use the sessions: tokens and the values of records are sealed, but whoever can write can take slots
/// away. In the clear are digests of logins and queries, ids of members, numbers and times. A live query keeps its last
/// 1,000 polls with changes for a day. An account with these rights is enough: `~fm:* &fm:* +hello +ping +info
/// +client|setname +script|load +eval +evalsha +get +set +subscribe +unsubscribe +publish +time +hgetall +hmget +hset
/// +hdel +zadd +zrange +zrem +zcard +zremrangebyscore +xadd +xrange +del +pexpire`, and `+role` behind Sentinels.
///
/// The processes' clocks need not agree.
public final class Fleet: Sendable {
    private let core: FleetCore

    /// A member of a fleet. It connects to the store when a database needs a session.
    ///
    /// - Parameters:
    ///   - slots: the number of sessions of each login; less than 1 counts as 1. It has to be the same for all members.
    ///   - store: where the store is.
    ///   - keys: what tokens are sealed with.
    ///   - storePatience: how long a process without a session waits for a store that does not answer, before it opens
    ///     one session outside of the slots. The default is 5 seconds.
    ///   - pollRateLimit: how often the live queries of all processes together may poll one host. The default is once a
    ///     second, and up to ten polls at once after a rest.
    ///   - logger: gets a line a minute for each kind of failure of the store. It never contains a secret.
    public init(
        slots: Int,
        store: StoreAddress,
        keys: FleetKeys,
        storePatience: Duration = .seconds(5),
        pollRateLimit: DataAPI.PollRateLimit = DataAPI.PollRateLimit(),
        logger: Logger? = nil
    ) {
        var settings = SlotMember.Settings()
        settings.calls.slots = max(1, slots)
        settings.storePatience = .milliseconds(Int64(storePatience.milliseconds))
        core = FleetCore(
            store: store,
            settings: settings,
            pollRateLimit: pollRateLimit,
            sealer: keys.sealer,
            logger: logger
        )
    }

    /// What databases take their sessions from: `config.sessions.budget`.
    public var budget: DataAPI.SessionBudget { core.budget }

    /// What live queries share their polls through: `config.liveExchange`.
    public var liveExchange: DataAPI.LiveExchange { core.liveExchange }

    /// What limits the polls of all processes together: `config.pollGate`.
    public var pollGate: DataAPI.PollGate { core.pollGate }

    /// What this process did so far.
    public var counters: FleetCounters { core.counters }

    /// What the store knows of the slots that this process uses: who holds them, and who waits.
    ///
    /// Throws a ``StoreError``. ``FleetStatus/read(from:)`` has all that are in a store, for those who look from
    /// outside.
    public func status() async throws -> FleetStatus { try await core.status() }

    /// Closes the connection to the store, after the servers that use the fleet were shut down. Slots that are still
    /// held are free for others 10 seconds later.
    public func shutdown() async { await core.shutdown() }
}
#endif

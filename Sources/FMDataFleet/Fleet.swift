#if Fleet
public import FMData
public import Logging
import NIOCore

/// Processes that share a number of sessions on a FileMaker host, and the rate of polls, through Redis or Valkey.
///
/// Without it, N processes open N times `maximumSessions` sessions, and their live queries poll N times as often. Give
/// all of them the same store, keys and number of slots:
///
///     let fleet = Fleet(slots: 4, store: StoreAddress(host: "cache.example.com"), keys: keys)
///     var config = DataAPI.Config()
///     config.sessions.budget = fleet.budget
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
/// **The store** needs no persistence. It should not evict keys (`maxmemory-policy noeviction`), and be used by nobody
/// who must not use the sessions: tokens are sealed, but whoever can write can take slots away. In the clear are
/// digests of logins, ids of members, numbers and times. An account with these rights is enough: `~fm:* &fm:* +hello
/// +ping +info +client|setname +script|load +eval +evalsha +get +set +subscribe +unsubscribe +publish +time +hgetall
/// +hmget +hset +hdel +zadd +zrange +zrem +pexpire`, and `+role` behind Sentinels.
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

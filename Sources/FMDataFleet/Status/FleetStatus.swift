public import FMData

/// What the store of a fleet knows at a moment: the slots of each login, who holds them, and who waits.
///
/// It contains no token, no account and no host. Reading it takes none of the fleet's keys:
///
///     for pool in try await FleetStatus.read(from: store).pools { print(pool.name, pool.waiting.count) }
public struct FleetStatus: Hashable, Sendable {
    /// The slots of each login, in the order of their names.
    public var pools: [Pool]

    /// The slots of one login on one host.
    public struct Pool: Hashable, Sendable {
        /// 32 hexadecimal digits, a digest of host, database and login: the same in all processes and runs.
        public var name: String
        /// The slots, in the order of their numbers.
        public var slots: [Slot]
        /// Who waits for a slot, in the order in which they get one.
        public var waiting: [String]
        /// How long nothing is granted yet, since the store was started anew and holders have to say what they hold;
        /// zero if slots are granted.
        public var grace: Duration
        /// How many sessions are opened at most, since the host was full; `nil` if it was not.
        public var limit: Int?
        /// Why nobody logs in: the host has refused the credentials a short time ago.
        public var refusal: Refusal?
        /// Logins since the pool was made.
        public var logins: Int
        /// Holders that died during a login or had no answer to it, since the pool was made: see
        /// ``FleetCounters/strays``.
        public var strays: Int
        /// How long ago the pool was made. A pool that nobody uses for a day is forgotten, and so are all when the
        /// store is started anew.
        public var age: Duration

        /// Those who hold slots or wait for one. A process has a member for each database object.
        public var members: Set<String> { Set(slots.compactMap(\.holder)).union(waiting) }

        /// The average number of logins in an hour, since the pool was made.
        public var loginsPerHour: Double { Double(logins) / max(1, age / .seconds(3600)) }
    }

    /// Credentials that the host has refused.
    public struct Refusal: Hashable, Sendable {
        /// FileMaker's code; `nil` if the host gave none.
        public var code: FileMakerErrorCode?
    }

    /// A place for one session.
    public struct Slot: Hashable, Sendable {
        /// Its number, from 1.
        public var number: Int
        /// The member that holds it; `nil` if nobody does.
        public var holder: String?
        /// How long it has been held; zero if nobody holds it.
        public var held: Duration
        /// How long it stays held if the holder says nothing more; zero if nobody holds it.
        public var lease: Duration
        /// Whether its holder is logging in, or died while it did.
        public var isOpening: Bool
        /// Whether its holder was asked to give it back.
        public var isRecalled: Bool
        /// How long the session in it should still live; `nil` if there is none.
        public var sessionLife: Duration?
    }
}

extension FleetStatus.Pool {
    /// Reads the hash of a pool. Whatever it contains, it is read as far as it makes sense.
    ///
    /// - Parameters:
    ///   - line: the members that wait, in their order.
    ///   - refusal: the note that the credentials were refused.
    ///   - now: the store's time in milliseconds.
    init(name: String, fields: [String: String], line: [String], refusal: String?, now: Int) {
        func number(_ field: String) -> Int { Int(fields[field] ?? "") ?? 0 }
        func left(_ field: String) -> Duration { .milliseconds(max(0, number(field).subtractingSafely(now))) }
        func past(_ field: String) -> Duration { .milliseconds(max(0, now.subtractingSafely(number(field)))) }
        self.name = name
        let numbers = fields.keys.compactMap { $0.first.map("olutxb".contains) == true ? Int($0.dropFirst()) : nil }
        let all = Set(numbers).union(1...max(1, number("k")).clamped).filter { (1...Self.mostSlots).contains($0) }
        slots = all.sorted().map { slot in
            let isHeld = left("u\(slot)") > .zero
            let hasSession = fields["t\(slot)"] != nil && left("x\(slot)") > .zero
            return FleetStatus.Slot(
                number: slot,
                holder: isHeld ? fields["o\(slot)"] : nil,
                held: isHeld ? past("g\(slot)") : .zero,
                lease: left("u\(slot)"),
                isOpening: fields["b\(slot)"] != nil,
                isRecalled: isHeld && left("c\(slot)") > .zero,
                sessionLife: hasSession ? left("x\(slot)") : nil
            )
        }
        waiting = line.filter { left("a:\($0)") > .zero }
        grace = left("shut")
        limit = left("capu") > .zero ? number("cap") : nil
        self.refusal = refusal.map { text in
            FleetStatus.Refusal(code: Int(text).flatMap { $0 == 0 ? nil : FileMakerErrorCode(rawValue: $0) })
        }
        logins = max(0, number("logins"))
        strays = max(0, number("strays"))
        age = past("since")
    }

    /// More than any fleet has: whoever can write to the store must not make its readers run out of memory.
    fileprivate static let mostSlots = 10_000
}

extension Int {
    fileprivate var clamped: Int { Swift.min(self, FleetStatus.Pool.mostSlots) }

    /// Zero where there is no such number.
    fileprivate func subtractingSafely(_ other: Int) -> Int {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? 0 : difference
    }
}

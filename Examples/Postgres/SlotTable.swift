import Foundation

/// The slots of all logins as tables of Postgres, and what is done with them: each operation is one statement.
///
/// The database's clock alone decides. Every change of a slot names the lease that it rests on, so that whoever is too
/// late changes nothing. A row that was never granted (`granted IS NULL`) belongs to nobody yet: the table was emptied,
/// and whoever held the slot says so again.
struct SlotTable: Sendable {
    /// Runs one statement with its values, and returns the rows as texts.
    typealias Query = @Sendable (_ sql: String, _ values: [String?]) async throws -> [[String?]]

    /// The database has answered with something else than its statement asks for.
    struct Malformed: Error {}

    /// Who wants or holds what.
    struct Claim: Sendable {
        let login: String
        let member: String
        let lease: String
        var slot = 0
    }

    /// A slot that was granted.
    struct Grant {
        let slot: Int
        /// Its token as it lies in the table; `nil` when there is none.
        let sealed: String?
        /// How many others wait.
        let waiting: Int
        /// The code with which the host has refused this login a short time ago.
        let refusal: Int?
    }

    /// What has become of a slot that is held.
    enum Kept {
        case lost
        case held(isRecalled: Bool, isForgotten: Bool)
    }

    let query: Query
    let settings: PostgresBudget.Settings

    /// Makes the tables, where they are missing. Programs that start together must not do it at the same time.
    static let schema = """
        DO $$ BEGIN
            PERFORM pg_advisory_xact_lock(5003);
            -- A slot is free when `until` is over. `dies`: until when the session of the token should live. `opening`:
            -- its holder may have a session whose token is not here.
            CREATE TABLE IF NOT EXISTS fm_slots (
                login text, slot integer, member text, lease text, until timestamptz NOT NULL, granted timestamptz,
                recalled timestamptz, token text, dies timestamptz, opening boolean NOT NULL DEFAULT false,
                strays integer NOT NULL DEFAULT 0, PRIMARY KEY (login, slot));
            -- The line: whoever holds least is the first, then whoever has waited for longest.
            CREATE TABLE IF NOT EXISTS fm_waiters (
                lease text PRIMARY KEY, login text NOT NULL, held integer NOT NULL, since timestamptz NOT NULL,
                until timestamptz NOT NULL);
            -- `proven`: a login has succeeded. `cap`: so many sessions, since the host was full. `rests`: it had no
            -- room for any. `code`: it has refused the login.
            CREATE TABLE IF NOT EXISTS fm_logins (
                login text PRIMARY KEY, proven boolean NOT NULL DEFAULT false, cap integer, capped timestamptz,
                rests timestamptz, code integer, refused timestamptz);
            DELETE FROM fm_waiters WHERE until < clock_timestamp() - interval '1 day';
        END $$
        """

    // MARK: Taking

    /// A free slot, one with a token before one without, or the slot that this lease has already: its answer was lost.
    ///
    /// Until a login has succeeded, slot 1 alone is granted, so that a wrong password is sent once; unless its holder
    /// has it for 5 s, as work with a session of its own, which puts no token.
    func take(_ claim: Claim, held: Int) async throws -> Grant? {
        let rows = try await run(
            """
            WITH host AS (
                SELECT coalesce(bool_or(proven), false) AS is_proven,
                    coalesce(bool_or(rests > clock_timestamp()), false) AS is_resting,
                    min(cap) FILTER (WHERE capped > clock_timestamp()) AS cap
                FROM fm_logins WHERE login = $1
            ), pool AS (
                SELECT count(*) FILTER (WHERE until > clock_timestamp()) AS held,
                    count(*) FILTER (WHERE until <= clock_timestamp()) AS free,
                    coalesce(bool_or(slot = 1 AND until > clock_timestamp()
                        AND granted < clock_timestamp() - interval '5 s'), false) AS is_late
                FROM fm_slots WHERE login = $1 AND slot <= $4::integer
            ), line AS (
                SELECT count(*) AS others, count(*) FILTER (WHERE (held, since) < ($5::integer,
                    coalesce((SELECT since FROM fm_waiters WHERE lease = $3), clock_timestamp()))) AS ahead
                FROM fm_waiters WHERE login = $1 AND lease <> $3 AND until > clock_timestamp()
            ), place AS (
                SELECT s.slot FROM fm_slots s, host, pool, line
                WHERE s.login = $1 AND s.slot <= $4::integer AND (s.lease = $3 OR s.until <= clock_timestamp()
                    AND line.ahead < least(pool.free, coalesce(host.cap, $4::integer) - pool.held)
                    AND (s.dies > clock_timestamp()
                        OR NOT host.is_resting AND (host.is_proven OR s.slot = 1 OR pool.is_late)))
                ORDER BY s.lease = $3 DESC NULLS LAST, s.dies > clock_timestamp() DESC NULLS LAST, s.slot
                LIMIT 1 FOR UPDATE OF s SKIP LOCKED
            ), gone AS (
                DELETE FROM fm_waiters WHERE lease = $3 AND EXISTS (SELECT FROM place)
            )
            UPDATE fm_slots s SET
                member = $2, lease = $3, until = clock_timestamp() + $6::interval, granted = clock_timestamp(),
                recalled = NULL, opening = (s.dies > clock_timestamp()) IS NOT TRUE,
                token = CASE WHEN s.dies > clock_timestamp() THEN s.token END,
                dies = CASE WHEN s.dies > clock_timestamp() THEN s.dies END,
                strays = s.strays + CASE WHEN s.opening AND s.lease <> $3 THEN 1 ELSE 0 END
            FROM place, line WHERE s.login = $1 AND s.slot = place.slot
            RETURNING s.slot::text, s.token, line.others::text,
                (SELECT code::text FROM fm_logins WHERE login = $1 AND refused > clock_timestamp())
            """,
            [claim.login, claim.member, claim.lease, "\(settings.slots)", "\(held)", Self.interval(settings.lease)]
        )
        guard let row = rows.first else { return nil }
        guard row.count == 4, let slot = row[0].flatMap({ Int($0) }), let waiting = row[2].flatMap({ Int($0) }) else {
            throw Malformed()
        }
        return Grant(slot: slot, sealed: row[1], waiting: waiting, refusal: row[3].flatMap { Int($0) })
    }

    /// Says that it waits, and recalls a slot of whoever holds most, if that is more than the waiting one holds.
    ///
    /// Missing rows are made, and are free when holders have had time to say what they hold.
    func wait(_ claim: Claim, held: Int) async throws {
        _ = try await run(
            """
            WITH made AS (
                INSERT INTO fm_slots (login, slot, until)
                SELECT $1::text, number, clock_timestamp() + $5::interval FROM generate_series(1, $6::integer) AS number
                ON CONFLICT DO NOTHING
            ), mark AS (
                INSERT INTO fm_waiters AS w (lease, login, held, since, until)
                VALUES ($3, $1, $4::integer, clock_timestamp(), clock_timestamp() + $7::interval)
                ON CONFLICT (lease) DO UPDATE SET held = excluded.held, until = excluded.until
            ), holder AS (
                SELECT member, count(*) AS slots,
                    count(*) FILTER (WHERE recalled > clock_timestamp() - interval '2 s') AS recalls
                FROM fm_slots WHERE login = $1 AND lease IS NOT NULL AND until > clock_timestamp() GROUP BY member
            ), victim AS (
                SELECT s.slot FROM fm_slots s JOIN holder USING (member)
                WHERE s.login = $1 AND s.lease IS NOT NULL AND s.until > clock_timestamp()
                    AND s.member <> $2 AND holder.slots > $4::integer
                    AND (s.recalled > clock_timestamp() - interval '2 s') IS NOT TRUE
                    -- As many are recalled at a time as wait; this one is not counted yet when it comes.
                    AND (SELECT sum(recalls) FROM holder) <= (SELECT count(*) FROM fm_waiters
                        WHERE login = $1 AND lease <> $3 AND until > clock_timestamp())
                ORDER BY holder.slots DESC, s.granted LIMIT 1 FOR UPDATE OF s SKIP LOCKED
            )
            UPDATE fm_slots s SET recalled = clock_timestamp() FROM victim WHERE s.login = $1 AND s.slot = victim.slot
            """,
            [
                claim.login, claim.member, claim.lease, "\(held)", Self.interval(settings.grace), "\(settings.slots)",
                Self.interval(settings.mark),
            ]
        )
    }

    /// Leaves the line, and the slot that may have been granted without an answer.
    func leave(_ claim: Claim) async throws {
        _ = try await run(
            """
            WITH gone AS (DELETE FROM fm_waiters WHERE lease = $2)
            UPDATE fm_slots SET member = NULL, lease = NULL, until = clock_timestamp(), recalled = NULL, opening = false
            WHERE login = $1 AND lease = $2
            """,
            [claim.login, claim.lease]
        )
    }

    // MARK: Held slots

    /// Renews the lease.
    ///
    /// - Parameter hasToken: whether the session's token was put; for a table that knows nothing of the slot.
    func keep(_ claim: Claim, hasToken: Bool) async throws -> Kept {
        let rows = try await run(
            """
            INSERT INTO fm_slots AS s (login, slot, member, lease, until, granted, opening)
            VALUES ($1, $2::integer, $3, $4, clock_timestamp() + $5::interval, clock_timestamp(), $6::boolean)
            ON CONFLICT (login, slot) DO UPDATE SET
                member = excluded.member, lease = excluded.lease, until = excluded.until,
                granted = coalesce(s.granted, excluded.granted),
                opening = CASE WHEN s.granted IS NULL THEN excluded.opening ELSE s.opening END
            WHERE s.lease = excluded.lease OR s.granted IS NULL
            RETURNING (s.recalled IS NOT NULL AND EXISTS (
                    SELECT FROM fm_waiters WHERE login = $1 AND until > clock_timestamp()))::text,
                (NOT s.opening AND (s.dies > clock_timestamp()) IS NOT TRUE)::text
            """,
            values(claim, Self.interval(settings.lease), hasToken ? "false" : "true")
        )
        guard let row = rows.first else { return .lost }
        guard row.count == 2 else { throw Malformed() }
        return .held(isRecalled: row[0] == "true", isForgotten: row[1] == "true")
    }

    /// Returns whether the slot is still held.
    func put(_ sealed: String, _ claim: Claim, life: Duration) async throws -> Bool {
        let rows = try await run(
            """
            WITH slot AS (
                INSERT INTO fm_slots AS s (login, slot, member, lease, until, granted, token, dies)
                VALUES ($1, $2::integer, $3, $4, clock_timestamp() + $5::interval, clock_timestamp(),
                    $6, clock_timestamp() + $7::interval)
                ON CONFLICT (login, slot) DO UPDATE SET
                    member = excluded.member, lease = excluded.lease, until = excluded.until,
                    granted = coalesce(s.granted, excluded.granted), token = excluded.token, dies = excluded.dies,
                    opening = false
                WHERE s.lease = excluded.lease OR s.granted IS NULL
                RETURNING s.slot
            ), login AS (
                INSERT INTO fm_logins AS l (login, proven) SELECT $1::text, true FROM slot
                ON CONFLICT (login) DO UPDATE SET proven = true WHERE NOT l.proven
            )
            SELECT slot::text FROM slot
            """,
            values(claim, Self.interval(settings.lease), sealed, Self.interval(life))
        )
        return !rows.isEmpty
    }

    /// Returns whether the slot is still held; a login may follow.
    ///
    /// - Parameter sealed: the token that is taken out, if it is the slot's.
    func drop(_ sealed: String?, _ claim: Claim) async throws -> Bool {
        let rows = try await run(
            """
            UPDATE fm_slots SET until = clock_timestamp() + $5::interval, opening = true,
                token = nullif(token, $6), dies = CASE WHEN token = $6 THEN NULL ELSE dies END
            WHERE login = $1 AND slot = $2::integer AND member = $3 AND lease = $4
            RETURNING slot::text
            """,
            values(claim, Self.interval(settings.lease), sealed)
        )
        return !rows.isEmpty
    }

    /// Gives the slot back with the token that its holder knows: the table may not have it. Nothing is done for a slot
    /// that is somebody else's by now.
    ///
    /// - Parameter life: how long the token still lives; `nil` if nothing new is known.
    func give(_ claim: Claim, sealed: String?, life: Duration?) async throws {
        _ = try await run(
            """
            INSERT INTO fm_slots AS s (login, slot, until, granted, token, dies)
            VALUES ($1, $2::integer, clock_timestamp(), clock_timestamp(), $4,
                CASE WHEN $4::text IS NOT NULL
                    THEN clock_timestamp() + coalesce($5::interval, interval '10 min') END)
            ON CONFLICT (login, slot) DO UPDATE SET
                member = NULL, lease = NULL, until = excluded.until, granted = excluded.granted, recalled = NULL,
                opening = false, token = excluded.token,
                dies = CASE WHEN $4::text IS NOT NULL AND $5::interval IS NULL THEN coalesce(s.dies, excluded.dies)
                    ELSE excluded.dies END
            WHERE s.lease = $3 OR s.granted IS NULL
            """,
            [claim.login, "\(claim.slot)", claim.lease, sealed, life.map(Self.interval)]
        )
    }

    // MARK: What the host has refused

    /// No more sessions than are open, for a minute; if there is none, no login for 5 seconds.
    func noteFull(_ claim: Claim) async throws {
        _ = try await run(
            """
            WITH others AS (
                SELECT count(*)::integer AS open FROM fm_slots WHERE login = $1 AND slot <> $2::integer
                    AND (dies > clock_timestamp() OR opening AND until > clock_timestamp())
            )
            INSERT INTO fm_logins (login, cap, capped, rests)
            SELECT $1::text, greatest(1, open), clock_timestamp() + interval '60 s',
                CASE WHEN open = 0 THEN clock_timestamp() + interval '5 s' END FROM others
            ON CONFLICT (login) DO UPDATE SET cap = excluded.cap, capped = excluded.capped, rests = excluded.rests
            """,
            [claim.login, "\(claim.slot)"]
        )
    }

    /// The login is not sent again for a minute; for 5 minutes where FileMaker's 214 says that the account is locked.
    func noteRefusal(_ code: Int, _ claim: Claim) async throws {
        _ = try await run(
            """
            INSERT INTO fm_logins (login, code, refused) VALUES ($1, $2::integer, clock_timestamp() + $3::interval)
            ON CONFLICT (login) DO UPDATE SET code = excluded.code, refused = excluded.refused
            """,
            [claim.login, "\(code)", Self.interval(.seconds(code == 214 ? 300 : 60))]
        )
    }

    // MARK: Statements

    /// A statement runs to its end, also when the task that wants it is cancelled: it must be known what was done.
    private func run(_ sql: String, _ values: [String?]) async throws -> [[String?]] {
        try await Task { [query] in try await query(sql, values) }.value
    }

    /// The first four values of most statements, and others.
    private func values(_ claim: Claim, _ others: String?...) -> [String?] {
        [claim.login, "\(claim.slot)", claim.member, claim.lease] + others
    }

    private static func interval(_ time: Duration) -> String {
        "\(time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000) milliseconds"
    }
}

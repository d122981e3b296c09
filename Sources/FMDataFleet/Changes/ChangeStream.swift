public import FMData
import Foundation
public import Logging
import NIOCore

/// Publishes the changes of FileMaker records to a stream of Redis or Valkey, for consumers in any language: change
/// data capture for FileMaker.
///
///     let stream = try ChangeStream("contacts", store: store)
///     try await stream.publish(contacts.find { $0(.city) == "Calgary" })
///
/// Any number of processes may call ``publish(_:options:)`` with one name: one of them polls the host, and when it ends
/// another one goes on within 11 seconds, where the first has stopped. Consumers read the stream
/// `fm:{contacts}:changes`, with consumer groups as they like.
///
/// | entry | fields | what a consumer does |
/// |---|---|---|
/// | `begin` | `kind`, `epoch` | forgets all it has: the store has been emptied, or is new |
/// | `record` | `kind`, `id`, `mod`, `fields` | has this record in this version now; `fields` is JSON |
/// | `gone` | `kind`, `id`, `reason` | removes it: `deleted`, `left` the found set, or `unknown` which of both |
/// | `unreadable` | `kind`, `id`, `mod`, `reason` | may keep its version: the record does not fit the program's type |
/// | `reset` | `kind`, `reason` | forgets all it has: a backup was restored, or the query is another one |
/// | `complete` | `kind` | its records are now all those of the query |
///
/// An entry, the note that its version was published, and the mark from which the next run goes on are written together
/// or not at all, so that a kill at any moment loses nothing and repeats nothing but `unreadable` entries. A store that
/// forgets its last second, as after a failover, makes the same versions come again: they come at least once. `id` and
/// `mod` together name a version, so whoever has that version already can pass over it.
///
/// The first run publishes all records. The stream is cut to ``maximumLength``: who falls behind further begins with
/// what `all()` has, or with a new name. For each record about 150 bytes stay in the store.
///
/// **What is published is readable** by whoever can read the stream. The store's account needs `~fm:*` and the rights
/// `+hello +ping +info +client|setname +script|load +eval +evalsha +time +hget +hmget +hset +hdel +del +zadd +zrem
/// +zrangebyscore +xadd`.
public final class ChangeStream: Sendable {
    /// The name is not made of letters, digits, `-`, `_`, `.` and `:`.
    public struct InvalidName: Error, Hashable, Sendable {
        /// No name.
        public init() {}
    }

    struct Settings: Sendable {
        /// How long a publisher leads without saying so again, in milliseconds.
        var life = 10_000
        var renewal = Duration.seconds(3)
        /// How long it waits before it tries again.
        var pause = Duration.seconds(1)
        var times = StoreClient.Times()
    }

    /// How many entries the stream keeps, about.
    public let maximumLength: Int

    private let client: StoreClient
    private let calls: ChangeCalls
    private let settings: Settings

    /// A stream. It connects to the store when something is published.
    ///
    /// - Parameters:
    ///   - name: names the stream in the store, `fm:{name}:changes`; letters, digits, `-`, `_`, `.` and `:`. Use
    ///     another name for another query.
    ///   - store: where the store is.
    ///   - maximumLength: how many entries the stream keeps, about. The default is 100,000.
    ///   - logger: gets a line a minute for each kind of failure of the store. It never contains a secret.
    public convenience init(
        _ name: String,
        store: StoreAddress,
        maximumLength: Int = 100_000,
        logger: Logger? = nil
    ) throws(InvalidName) {
        try self.init(name, store: store, maximumLength: maximumLength, logger: logger, settings: Settings())
    }

    init(
        _ name: String,
        store: StoreAddress,
        maximumLength: Int,
        logger: Logger?,
        settings: Settings
    ) throws(InvalidName) {
        guard name.wholeMatch(of: /[A-Za-z0-9_.:-]{1,200}/) != nil else { throw InvalidName() }
        self.maximumLength = max(1, maximumLength)
        self.settings = settings
        client = StoreClient(
            address: store,
            name: "fmdata-\(randomName())",
            times: settings.times,
            logger: logger,
            observer: StoreClient.Observer()
        )
        calls = ChangeCalls(client: client, names: ChangeCalls.Names(name), life: settings.life)
    }

    /// Publishes the changes of the records until its task is cancelled. While another process publishes them, it waits
    /// to take over. Failures of the store are waited out.
    ///
    /// Throws what `changes(keptBy:)` fails with, and `CancellationError`.
    ///
    /// - Parameters:
    ///   - records: whose changes.
    ///   - options: how it polls.
    public func publish<R: RecordFields & Encodable>(
        _ records: some DataAPI.RecordSource<R>,
        options: DataAPI.LiveOptions = DataAPI.LiveOptions()
    ) async throws {
        try await publish(records, options: options) { $0.fieldData }
    }

    /// Publishes the changes of the records, as ``publish(_:options:)`` does, with a content of your own.
    ///
    /// Versions that are in the stream already keep the content that they had.
    ///
    /// - Parameters:
    ///   - records: whose changes.
    ///   - options: how it polls.
    ///   - content: makes what is published as the `fields` of a record. What it throws ends the publishing.
    public func publish<R: RecordFields, Content: Encodable & SendableMetatype>(
        _ records: some DataAPI.RecordSource<R>,
        options: DataAPI.LiveOptions = DataAPI.LiveOptions(),
        content: @escaping @Sendable (DataAPI.Record<R, R.Portals>) throws -> Content
    ) async throws {
        let lease = randomName()
        do {
            while true {
                try await leadAndFollow(records, options, { try Self.json(content($0)) }, lease)
            }
        } catch {
            // The next one need not wait until the lease ends.
            _ = try? await calls.resign(lease)
            throw error
        }
    }

    /// Closes the connection to the store. What is being published ends with an error.
    public func shutdown() async { await client.shutdown() }

    /// Somebody else publishes by now.
    private struct Superseded: Error {}

    private func leadAndFollow<R: RecordFields>(
        _ records: some DataAPI.RecordSource<R>,
        _ options: DataAPI.LiveOptions,
        _ fields: @escaping @Sendable (DataAPI.Record<R, R.Portals>) throws -> String,
        _ lease: String
    ) async throws {
        try Task.checkCancellation()
        do {
            switch try await calls.lead(lease, epoch: lease) {
            case .waits(let milliseconds):
                try await Task.sleep(for: min(.milliseconds(milliseconds), settings.pause))
            case .leads(let sequence):
                let appending = Appending(calls: calls, lease: lease, length: maximumLength, sequence: sequence)
                try await follow(records, options, fields, appending)
            }
        } catch let error as StoreError where error.code != .shutdown {
            try await Task.sleep(for: settings.pause)
        } catch is Superseded {}
    }

    /// Publishes until somebody else does.
    private func follow<R: RecordFields>(
        _ records: some DataAPI.RecordSource<R>,
        _ options: DataAPI.LiveOptions,
        _ fields: @escaping @Sendable (DataAPI.Record<R, R.Portals>) throws -> String,
        _ appending: Appending
    ) async throws {
        let changes = records.changes(keptBy: keeper, options: options, isolation: nil)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [calls, settings] in
                while true {
                    try await Task.sleep(for: settings.renewal)
                    // A failure is no refusal: the lease outlives two of them.
                    let leads = try? await calls.hold(appending.lease)
                    if leads == false { throw Superseded() }
                }
            }
            group.addTask { [settings] in
                var appending = appending
                for try await event in changes.values {
                    let (entries, mark) = try Self.entries(of: event, fields)
                    while try await !appending.append(entries, mark) { try await Task.sleep(for: settings.pause) }
                }
                try Task.checkCancellation()
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private var keeper: DataAPI.CopyKeeper {
        DataAPI.CopyKeeper(
            mark: { [calls] done in
                Task {
                    done(
                        await Result.of {
                            try await calls.mark().map {
                                try JSONDecoder().decode(DataAPI.CopyMark.self, from: Data($0.utf8))
                            }
                        }
                    )
                }
            },
            versions: { [calls] id, limit, done in
                Task {
                    done(
                        await Result.of {
                            try await calls.versions(after: id, limit: limit)
                                .map { DataAPI.RecordVersion(recordId: $0.id, modId: $0.modId) }
                        }
                    )
                }
            }
        )
    }

    /// What an event is in the stream, and the mark that it brings.
    private static func entries<R: RecordFields>(
        of event: DataAPI.CopyEvent<R>,
        _ fields: (DataAPI.Record<R, R.Portals>) throws -> String
    ) throws -> (entries: [ChangeCalls.Entry], mark: String?) {
        switch event {
        case .records(let records):
            let entries = try records.map { record in
                ChangeCalls.Entry(
                    kind: .record,
                    id: "\(record.recordId)",
                    modId: "\(record.modId)",
                    more: ("fields", try fields(record))
                )
            }
            return (entries, nil)
        case .unreadable(let records):
            let entries = records.map { record in
                ChangeCalls.Entry(
                    kind: .unreadable,
                    id: "\(record.recordId)",
                    modId: "\(record.modId)",
                    more: ("reason", record.description)
                )
            }
            return (entries, nil)
        case .gone(let records):
            let entries = records.map { record in
                ChangeCalls.Entry(kind: .gone, id: "\(record.recordId)", more: ("reason", "\(record.reason)"))
            }
            return (entries, nil)
        case .polled(let mark, _):
            return ([], try json(mark))
        case .reset(let reason):
            return ([ChangeCalls.Entry(kind: .reset, more: ("reason", "\(reason)"))], nil)
        }
    }

    private static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// The appends of one publisher, in their order.
    private struct Appending: Sendable {
        let calls: ChangeCalls
        let lease: String
        let length: Int
        /// That of the last append.
        var sequence: Int
        private var mark: String?

        init(calls: ChangeCalls, lease: String, length: Int, sequence: Int) {
            self.calls = calls
            self.lease = lease
            self.length = length
            self.sequence = sequence
        }

        /// Returns whether it is done; after no answer, whether it was is not known, and it has to be called again.
        mutating func append(_ entries: [ChangeCalls.Entry], _ new: String?) async throws -> Bool {
            // A poll without changes leaves the mark as it is, mostly.
            if entries.isEmpty, new == mark { return true }
            let leads: Bool
            do {
                leads = try await calls.append(entries, mark: new, sequence: sequence + 1, length: length, lease)
            } catch let error as StoreError where error.code != .shutdown {
                return false
            }
            guard leads else { throw Superseded() }
            sequence += 1
            if let new { mark = new }
            return true
        }
    }
}

extension Result where Failure == any Error {
    fileprivate static func of(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}

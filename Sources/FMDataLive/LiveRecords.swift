public import FMDataCore
public import FMDataRecords
import NIOConcurrencyHelpers
import NIOCore
public import OpenCombine

extension DataAPI {
    /// The records of a live query as observable state, for views and services.
    ///
    ///     let inCalgary = DataAPI.LiveRecords(people.find { $0(.city) == "Calgary" }.live())
    ///
    ///     inCalgary.records                       // as they are now
    ///     inCalgary.$records.sink { … }           // and whenever they change
    ///
    /// It subscribes to the query when it is created and cancels when it is deinitialised. Several queries of one
    /// database object that find the same record on the same layout share one ``LiveRecord`` for it, which has the
    /// newest version that any of them has received.
    public final class LiveRecords<R: RecordFields>: ObservableObject, @unchecked Sendable {
        // @unchecked: the stored properties are wrappers and boxes whose contents are guarded by a lock.

        /// Publishes before ``records``, ``status`` or ``error`` change: on the main actor to subscribers that
        /// subscribed there, to others on the thread that makes the change. Never finishes.
        public var objectWillChange: AnyPublisher<Void, Never> { changes.whereSubscribed() }
        private let changes = ObservableObjectPublisher()

        /// The records, in the query's order; empty before the first poll.
        @PublishedState public var records: [LiveRecord<R>] = []

        /// What the query is doing.
        @PublishedState public var status = LiveStatus(.idle)

        /// The error with which the query has failed; `nil` until then.
        @PublishedState public var error: FMRest.APIError?

        private let query: LiveQuery<R>
        private let subscriptions = NIOLockedValueBox<[AnyCancellable]>([])

        /// Subscribes to the query at once.
        ///
        /// - Parameter query: the query to follow.
        public init(_ query: LiveQuery<R>) {
            self.query = query
            let states = query.told(to: .insideACall) {
                var before = LiveState<R>()
                return { state in
                    defer { before = state }
                    return [(state: state, isNew: state.isNew(since: before))]
                }
            }
            .sink { [weak self] completion in
                if case .failure(let error) = completion { self?.set { $0._error.set(error) } }
            } receiveValue: { [weak self] news in
                self?.show(news.state, news.isNew)
            }
            let status = query.status.sink { [weak self] status in self?.set { $0._status.set(status) } }
            subscriptions.withLockedValue { $0 = [states, status] }
        }

        /// Polls now, or once more after the poll under way.
        public func refresh() { query.refresh() }

        private func show(_ state: LiveState<R>, _ isNew: [Bool]) {
            let layout = query.found.layout.layout
            let objects = layout.database.liveRegistry.objects(state, isNew, on: layout.name)
            set { $0._records.set(objects) }
        }

        private func set(_ change: (LiveRecords) -> Void) {
            changes.send()
            change(self)
        }
    }

    /// One record, shared by all live queries that find it.
    public final class LiveRecord<R: RecordFields>: ObservableObject, Identifiable, @unchecked Sendable {
        // @unchecked: the stored properties are immutable, or wrappers and boxes whose contents are guarded by a lock.

        /// The record's id.
        public let id: Int

        /// Publishes before ``record`` changes: on the main actor to subscribers that subscribed there, to others on
        /// the thread that makes the change. Never finishes.
        public var objectWillChange: AnyPublisher<Void, Never> { changes.whereSubscribed() }
        private let changes = ObservableObjectPublisher()

        /// The newest version that a query has received.
        @PublishedState public var record: TypedLayout<R>.Record

        /// The modId that is shown, and when the poll that found it began.
        private let shown: NIOLockedValueBox<(modId: Int, asOf: NIODeadline)>

        init(_ record: TypedLayout<R>.Record, asOf: NIODeadline) {
            id = record.recordId
            _record = PublishedState(wrappedValue: record)
            shown = NIOLockedValueBox((record.modId, asOf))
        }

        /// Shows a version unless a newer one is shown. Queries poll at different times, so one may have an older
        /// version than another. The time of the poll decides too, because contents can change without a commit, and
        /// modIds start over in a restored file.
        func show(_ found: TypedLayout<R>.Record, asOf: NIODeadline) {
            let isNewer = shown.withLockedValue { shown in
                guard found.modId > shown.modId || asOf > shown.asOf else { return false }
                shown = (found.modId, asOf)
                return true
            }
            guard isNewer else { return }
            changes.send()
            _record.set(found)
        }
    }
}

/// The shared objects of records that live queries have found: one per record, held weakly.
struct LiveObjects: Sendable {
    private struct Key: Hashable {
        let type: ObjectIdentifier
        let layout: String
        let recordId: Int
    }

    private struct WeakObject: Sendable {
        weak var object: (any AnyObject & Sendable)?
    }

    private var objects: [Key: WeakObject] = [:]
    private var sweptAt = 64

    mutating func objects<R: RecordFields>(
        _ state: LiveState<R>,
        on layout: String
    ) -> [(object: DataAPI.LiveRecord<R>, isMade: Bool)] {
        if objects.count > sweptAt {
            objects = objects.filter { $0.value.object != nil }
            sweptAt = max(64, 2 * objects.count)
        }
        return state.records.map { record in
            let key = Key(type: ObjectIdentifier(R.self), layout: layout, recordId: record.recordId)
            if let object = objects[key]?.object as? DataAPI.LiveRecord<R> { return (object, false) }
            let object = DataAPI.LiveRecord<R>(record, asOf: state.asOf)
            objects[key] = WeakObject(object: object)
            return (object, true)
        }
    }
}

extension LiveRegistry {
    /// The objects of these records, updated where `isNew` says so.
    func objects<R: RecordFields>(
        _ state: LiveState<R>,
        _ isNew: [Bool],
        on layout: String
    ) -> [DataAPI.LiveRecord<R>] {
        let found = identities.withLockedValue { $0.objects(state, on: layout) }
        // Subscribers of an object are notified outside of the lock.
        for (place, entry) in found.enumerated() where !entry.isMade && isNew[place] {
            entry.object.show(state.records[place], asOf: state.asOf)
        }
        return found.map(\.object)
    }
}

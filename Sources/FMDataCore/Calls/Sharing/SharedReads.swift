import NIOCore
import OpenCombine

/// The reads of a database, as one account, that are shared while they are under way, and whose answers are cached for
/// a time; see ``DataAPI/Calling/coalescingReads()`` and ``DataAPI/Calling/cached(for:)``.
package final class SharedReads: Sendable {
    /// Two reads with equal keys are the same: the bytes of the request, the type of the result, and the time limits
    /// are equal.
    struct Key: Hashable {
        let target: String
        let body: [WireOption]
        let response: ObjectIdentifier
        /// The type of the shared values, so that all readers of an exchange expect the same type.
        let value: ObjectIdentifier
        let timeouts: DataAPI.Timeouts
        let tag: String?
        /// The lease of a pinned session: its global fields are visible to its own reads only.
        let lease: LeaseID?
    }

    /// The number of answers that are cached.
    static let room = 256

    fileprivate struct State {
        var kept = KeptAnswers<Key, Any>(room: SharedReads.room)
        var sharing = SharingMachine<Key>()
        var flights: [Int: AnyObject] = [:]
        var lastReader = 0
    }

    /// Guards the flights as well, which change under this lock only.
    fileprivate let state = Guarded(State())

    /// Publishes the value of a read, by an exchange of its own or by one that is under way already.
    ///
    /// - Parameters:
    ///   - exchange: made only if there is neither a cached answer nor an exchange under way.
    ///   - age: the greatest age of a cached answer; `nil` for none from the cache.
    ///   - now: the clock.
    func publisher<Value>(
        _ key: Key,
        _ exchange: @autoclosure @escaping () -> AnyPublisher<Value, FMRest.APIError>,
        keptFor age: TimeAmount? = nil,
        now: @escaping @Sendable () -> NIODeadline = NIODeadline.now
    ) -> AnyPublisher<Value, FMRest.APIError> {
        AnyPublisher(SharedRead(key: key, reads: self, age: age, now: now, exchange: exchange))
    }

    /// Something may have been written: later reads use no exchange that began before, and no cached answer.
    package func wrote() {
        let old = state.withLock { state in
            state.sharing.wrote()
            return state.kept.forget()
        }
        // Answers contain types of the program, so they are released outside of the lock.
        withExtendedLifetime(old) {}
    }
}

extension AccountPeriod {
    /// The reads of the account that are under way and can be shared, and the answers that are kept.
    package var reads: SharedReads { attachments.value { SharedReads() } }
}

/// See ``SharedReads/publisher(_:_:)``. For a publisher of one value.
private struct SharedRead<Value>: ColdPublisher {
    typealias Output = Value
    typealias Failure = FMRest.APIError

    let key: SharedReads.Key
    let reads: SharedReads
    let age: TimeAmount?
    let now: @Sendable () -> NIODeadline
    let exchange: () -> AnyPublisher<Value, FMRest.APIError>

    typealias Reader = ColdSubscription<SharedRead>

    func begin(_ reader: Reader) {
        switch reads.join(reader, self) {
        case .kept(let value): reader.succeed(with: value)
        case .flight(let place, let flight, let isNew):
            // If the reader was cancelled meanwhile, it leaves at once; the exchange may have other readers even so.
            if !reader.proceed(with: place) { place.cancel() }
            if isNew { exchange().subscribe(flight) }
        }
    }

    /// How a reader gets its value.
    enum ValueSource {
        case kept(Value)
        case flight(FlightMembership, Flight, isNew: Bool)
    }

    /// A reader's place in a flight.
    struct FlightMembership: Cancellable {
        let reader: Int
        let flight: Flight

        func cancel() { flight.left(reader) }
    }

    /// One exchange and the readers that wait for it.
    final class Flight: Subscriber {
        typealias Input = Value
        typealias Failure = FMRest.APIError

        // `reads.state` guards every `var`.
        private let id: Int
        private let reads: SharedReads
        private let key: SharedReads.Key
        private let began: NIODeadline
        /// Whether a reader wants its answer to be cached.
        fileprivate var isToBeKept = false
        fileprivate var readers: [Int: Reader] = [:]
        private var subscription: (any Subscription)?
        private var value: Value?
        private var isOver = false

        fileprivate init(_ id: Int, of read: SharedRead) {
            self.id = id
            reads = read.reads
            key = read.key
            began = read.now()
        }

        // MARK: From the readers

        func left(_ reader: Int) {
            let (remains, last) = reads.state.withLock { state -> (ReleasedObjects?, Reader?) in
                let last = readers.removeValue(forKey: reader)
                return (state.sharing.left(reader, id) ? lockedEnd(&state) : nil, last)
            }
            remains?.subscription?.cancel()
            withExtendedLifetime(last) {}
        }

        // MARK: From the exchange

        func receive(subscription: any Subscription) {
            let isWanted = reads.state.withLock { _ in
                guard !isOver, self.subscription == nil else { return false }
                self.subscription = subscription
                return true
            }
            if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
        }

        func receive(_ value: Value) -> Subscribers.Demand {
            reads.state.withLock { _ in self.value = value }
            return .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            let (readers, remains, old) = reads.state.withLock { state in
                let old: Any? =
                    if case .finished = completion, let value, isToBeKept, state.sharing.isOpen(id) {
                        state.kept.keep(value, to: key, asked: began)
                    } else {
                        nil
                    }
                return (state.sharing.ended(id).compactMap { self.readers[$0] }, lockedEnd(&state), old)
            }
            withExtendedLifetime(old) {}
            for reader in readers {
                if case .finished = completion, let value = remains.value {
                    reader.succeed(with: value)
                } else {
                    reader.finish(completion)
                }
            }
        }

        /// The objects released at the end: not under the lock, since deinitializing them may run any code.
        private struct ReleasedObjects {
            var subscription: (any Subscription)?
            var value: Value?
        }

        private func lockedEnd(_ state: inout SharedReads.State) -> ReleasedObjects {
            defer {
                isOver = true
                subscription = nil
                value = nil
                readers = [:]
                state.flights[id] = nil
            }
            return ReleasedObjects(subscription: subscription, value: value)
        }
    }
}

extension SharedReads {
    fileprivate func join<Value>(
        _ reader: SharedRead<Value>.Reader,
        _ read: SharedRead<Value>
    ) -> SharedRead<Value>.ValueSource {
        state.withLock { state in
            // Values cached under a key are of this type, since the type is a part of the key.
            if let age = read.age, let kept = state.kept.answer(to: read.key, within: age, read.now()) as? Value {
                return .kept(kept)
            }
            state.lastReader += 1
            let number = state.lastReader
            let id =
                switch state.sharing.joined(number, read.key) {
                case .begin(let id), .wait(let id): id
                }
            // The same holds for the type of a flight under way.
            let known = state.flights[id] as? SharedRead<Value>.Flight
            let flight = known ?? SharedRead<Value>.Flight(id, of: read)
            state.flights[id] = flight
            flight.readers[number] = reader
            flight.isToBeKept = flight.isToBeKept || read.age != nil
            return .flight(SharedRead.FlightMembership(reader: number, flight: flight), flight, isNew: known == nil)
        }
    }
}

/// A cache of answers with room for a fixed number. When it is full, the least recently used answer is removed.
struct KeptAnswers<Key: Hashable, Answer> {
    private struct Entry {
        let answer: Answer
        /// When the answer was requested: it was true at that time or later.
        let asked: NIODeadline
        var lastUse: Int
    }

    let room: Int
    private var entries: [Key: Entry] = [:]
    private var uses = 0

    init(room: Int) { self.room = room }

    var count: Int { entries.count }

    /// The cached answer to a request, if it is not older than `age`.
    mutating func answer(to key: Key, within age: TimeAmount, _ now: NIODeadline) -> Answer? {
        guard let entry = entries[key], now - entry.asked < age else { return nil }
        uses += 1
        entries[key]?.lastUse = uses
        return entry.answer
    }

    /// Stores an answer in place of any earlier one. Returns the answer that was removed, to be released outside of a
    /// lock.
    mutating func keep(_ answer: Answer, to key: Key, asked: NIODeadline) -> Answer? {
        uses += 1
        let old = entries.updateValue(Entry(answer: answer, asked: asked, lastUse: uses), forKey: key)
        guard entries.count > room, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
            return old?.answer
        }
        return entries.removeValue(forKey: oldest.key)?.answer
    }

    /// Removes all answers. Returns them, to be released outside of a lock.
    mutating func forget() -> [Answer] {
        guard !entries.isEmpty else { return [] }
        defer { entries = [:] }
        return entries.values.map(\.answer)
    }
}

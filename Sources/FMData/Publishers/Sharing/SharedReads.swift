import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// The reads of a database, as one account, that are shared while they are under way, and whose answers are cached for
/// a time; see ``DataAPI/Calling/shared()`` and ``DataAPI/Calling/cached(for:)``.
final class SharedReads: @unchecked Sendable {
    // @unchecked: `state` is a lock with its guarded values, including the flights, which change under this lock only.
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

    fileprivate let state = NIOLockedValueBox(State())

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
    func wrote() {
        let old = state.withLockedValue { state in
            state.sharing.wrote()
            return state.kept.forget()
        }
        // Answers contain types of the program, so they are released outside of the lock.
        withExtendedLifetime(old) {}
    }
}

extension SharedReads.Key {
    /// `nil` if the request cannot be encoded.
    init?<Response, Value>(
        _ request: DataAPIRequest<Response>,
        publishing value: Value.Type,
        in database: DataAPI.Database
    ) {
        guard let target = try? request.encodedTarget() else { return nil }
        self.target = "\(request.method) \(target)"
        body = if case .json = request.body { request.options } else { [] }
        response = ObjectIdentifier(Response.self)
        self.value = ObjectIdentifier(value)
        timeouts = database.calls.options.timeouts
        tag = database.calls.options.tag
        lease = if case .pinned(let session, _) = database.sessions { session.lease.id } else { nil }
    }
}

/// See ``SharedReads/publisher(_:_:)``. For a publisher of one value.
private struct SharedRead<Value>: Publisher {
    typealias Output = Value
    typealias Failure = FMRest.APIError

    let key: SharedReads.Key
    let reads: SharedReads
    let age: TimeAmount?
    let now: @Sendable () -> NIODeadline
    let exchange: () -> AnyPublisher<Value, FMRest.APIError>

    func receive<Downstream: Subscriber<Value, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Reader(self, downstream: subscriber))
    }

    final class Reader: ColdSubscription<SharedRead>, @unchecked Sendable {
        // @unchecked: as the superclass.
        override func begin(_ source: SharedRead) {
            switch source.reads.join(self, source) {
            case .kept(let value): succeed(with: value)
            case .flight(let place, let flight, let isNew):
                // If the reader was cancelled meanwhile, it leaves at once; the exchange may have other readers even
                // so.
                if !proceed(with: place) { place.cancel() }
                if isNew { source.exchange().subscribe(flight) }
            }
        }
    }

    /// How a reader gets its value.
    enum Joining {
        case kept(Value)
        case flight(Place, Flight, isNew: Bool)
    }

    /// A reader's place in a flight.
    struct Place: Cancellable {
        let reader: Int
        let flight: Flight

        func cancel() { flight.left(reader) }
    }

    /// One exchange and the readers that wait for it.
    final class Flight: Subscriber, @unchecked Sendable {
        typealias Input = Value
        typealias Failure = FMRest.APIError

        // @unchecked: `reads.state` guards every `var`.
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
            let (remains, last) = reads.state.withLockedValue { state -> (Remains?, Reader?) in
                let last = readers.removeValue(forKey: reader)
                return (state.sharing.left(reader, id) ? lockedEnd(&state) : nil, last)
            }
            remains?.subscription?.cancel()
            withExtendedLifetime(last) {}
        }

        // MARK: From the exchange

        func receive(subscription: any Subscription) {
            let isWanted = reads.state.withLockedValue { _ in
                guard !isOver, self.subscription == nil else { return false }
                self.subscription = subscription
                return true
            }
            if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
        }

        func receive(_ value: Value) -> Subscribers.Demand {
            reads.state.withLockedValue { _ in self.value = value }
            return .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            let (readers, remains, old) = reads.state.withLockedValue { state in
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
        private struct Remains {
            var subscription: (any Subscription)?
            var value: Value?
        }

        private func lockedEnd(_ state: inout SharedReads.State) -> Remains {
            defer {
                isOver = true
                subscription = nil
                value = nil
                readers = [:]
                state.flights[id] = nil
            }
            return Remains(subscription: subscription, value: value)
        }
    }
}

extension SharedReads {
    fileprivate func join<Value>(
        _ reader: SharedRead<Value>.Reader,
        _ read: SharedRead<Value>
    ) -> SharedRead<Value>.Joining {
        state.withLockedValue { state in
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
            return .flight(SharedRead.Place(reader: number, flight: flight), flight, isNew: known == nil)
        }
    }
}

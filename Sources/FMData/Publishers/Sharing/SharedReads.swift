import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// The reads of a database, as one account, that are shared while they are under way, and whose answers are kept for a time; see
/// ``DataAPI/Calling/shared()`` and ``DataAPI/Calling/cached(for:)``.
final class SharedReads: @unchecked Sendable {
    // @unchecked: `state` is a lock with what it guards, the flights among it, which change under this lock only.
    /// What makes two reads the same: the request to the byte, what is made of the answer, and how long it may take.
    struct Key: Hashable {
        let target: String
        let body: [WireOption]
        let response: ObjectIdentifier
        /// Of the values that are shared, so that all who share an exchange take values of one type.
        let value: ObjectIdentifier
        let timeouts: DataAPI.Timeouts
        let tag: String?
        /// Where the session matters: its globals are seen by its own reads alone.
        let lease: LeaseID?
    }

    /// How many answers are kept.
    static let room = 256

    fileprivate struct State {
        var kept = KeptAnswers<Key, Any>(room: SharedReads.room)
        var sharing = SharingMachine<Key>()
        var flights: [Int: AnyObject] = [:]
        var lastReader = 0
    }

    fileprivate let state = NIOLockedValueBox(State())

    /// What a read of this kind publishes, by an exchange of its own or by that of somebody else.
    ///
    /// - Parameters:
    ///   - age: how old an answer may be that was kept; `nil` when none is wanted.
    ///   - now: what time it is.
    func publisher<Value>(
        _ key: Key,
        _ exchange: AnyPublisher<Value, FMRest.APIError>,
        keptFor age: TimeAmount? = nil,
        now: @escaping @Sendable () -> NIODeadline = NIODeadline.now
    ) -> AnyPublisher<Value, FMRest.APIError> {
        AnyPublisher(SharedRead(key: key, reads: self, age: age, now: now, exchange: exchange))
    }

    /// Something may have been written: who reads from now on gets nothing that has begun before.
    func wrote() {
        let old = state.withLockedValue { state in
            state.sharing.wrote()
            return state.kept.forget()
        }
        // Answers hold other people's types, and are let go outside of the lock.
        withExtendedLifetime(old) {}
    }
}

extension SharedReads.Key {
    /// `nil` for what cannot be sent.
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
        lease = if case .pinned(let lease, _) = database.sessions { lease.id } else { nil }
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
    let exchange: AnyPublisher<Value, FMRest.APIError>

    func receive<Downstream: Subscriber<Value, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Reader(self, downstream: subscriber))
    }

    final class Reader: ColdSubscription<SharedRead>, @unchecked Sendable {
        // @unchecked: as the superclass.
        override func begin(_ source: SharedRead) {
            switch source.reads.join(self, source) {
            case .kept(let value): succeed(with: value)
            case .flight(let place, let flight, let isNew):
                // Cancelled meanwhile it leaves at once; somebody may have joined it even so.
                if !proceed(with: place) { place.cancel() }
                if isNew { source.exchange.subscribe(flight) }
            }
        }
    }

    /// How a reader comes to its value.
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

    /// One exchange and those who wait for it.
    final class Flight: Subscriber, @unchecked Sendable {
        typealias Input = Value
        typealias Failure = FMRest.APIError

        // @unchecked: `reads.state` guards every `var`.
        private let id: Int
        private let reads: SharedReads
        private let key: SharedReads.Key
        private let began: NIODeadline
        /// Whether somebody wants its answer to be kept.
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

        /// What is let go at the end, which may run anything, so not under the lock.
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
            // What is kept for a key is of this type, which is a part of the key.
            if let age = read.age, let kept = state.kept.answer(to: read.key, within: age, read.now()) as? Value {
                return .kept(kept)
            }
            state.lastReader += 1
            let number = state.lastReader
            let id =
                switch state.sharing.joined(number, read.key) {
                case .begin(let id), .wait(let id): id
                }
            // And so is one that is waited for.
            let known = state.flights[id] as? SharedRead<Value>.Flight
            let flight = known ?? SharedRead<Value>.Flight(id, of: read)
            state.flights[id] = flight
            flight.readers[number] = reader
            flight.isToBeKept = flight.isToBeKept || read.age != nil
            return .flight(SharedRead.Place(reader: number, flight: flight), flight, isNew: known == nil)
        }
    }
}

public import OpenCombine

/// A property of ``DataAPI/Database`` that changes on any thread and can be observed: `database.credentials` reads it,
/// `database.$credentials` publishes the current value to each new subscriber and then every change. Never finishes.
///
/// Subscribers on the main actor receive the values there, all others on the thread that made the change. A slow
/// subscriber on the main actor misses intermediate values, never the latest.
///
/// OpenCombine's `@Published` does the same for an object that is confined to one thread; `Database` is not.
@propertyWrapper
public struct PublishedState<Value: Sendable>: Sendable {
    private let subject: SelfGuarded<CurrentValueSubject<Value, Never>>

    /// A property with an initial value.
    public init(wrappedValue: Value) {
        subject = SelfGuarded(CurrentValueSubject(wrappedValue))
    }

    /// The current value.
    public var wrappedValue: Value { subject.object.value }

    /// Publishes the current value, then every change.
    ///
    /// - Note: Values until it is cancelled. See <doc:Calls>.
    public var projectedValue: AnyPublisher<Value, Never> { subject.object.whereSubscribed() }

    package func set(_ value: Value) {
        subject.object.send(value)
    }
}

extension Publisher {
    /// Delivers values on the main queue to subscribers on the main actor, and leaves them where they come from for all
    /// others.
    package func whereSubscribed() -> AnyPublisher<Output, Failure> {
        Deferred {
            guard let turn = ActorTurn.ofSubscriber() else { return AnyPublisher(self) }
            return AnyPublisher(
                ThroughMachine(
                    upstream: self,
                    // One value at a time, so that no turn is spent on outdated values.
                    machine: HandoverMachine(window: 1),
                    actor: turn
                )
            )
        }
        .eraseToAnyPublisher()
    }
}

public import OpenCombine

/// A value of ``DataAPI/Database`` that changes from any thread and can be watched: `database.credentials` reads it,
/// `database.$credentials` publishes the present value to each new subscriber and then every change. Never finishes.
///
/// Who subscribes on the main actor gets the values there; everybody else on the thread that made the change. What a
/// subscriber on the main actor is too slow for is left out, the latest is not.
///
/// OpenCombine's `@Published` does the same for an object that is confined to one thread; ours is not.
@propertyWrapper
public struct PublishedState<Value: Sendable>: @unchecked Sendable {
    // @unchecked: the only stored property is a subject that guards its value and its subscribers by a lock of its own.
    private let subject: CurrentValueSubject<Value, Never>

    /// A state that begins with a value.
    public init(wrappedValue: Value) {
        subject = CurrentValueSubject(wrappedValue)
    }

    /// The present value.
    public var wrappedValue: Value { subject.value }

    /// The present value, then every change.
    public var projectedValue: AnyPublisher<Value, Never> { subject.whereSubscribed() }

    func set(_ value: Value) {
        subject.send(value)
    }
}

extension Publisher {
    /// A state, for those who watch it from main-actor code and from everywhere else: a property, unlike a call, cannot know
    /// in whose code it is written, but main-actor code always subscribes on the main queue.
    package func whereSubscribed() -> AnyPublisher<Output, Failure> {
        Deferred {
            guard MainQueue.isCurrent else { return AnyPublisher(self) }
            return AnyPublisher(
                JoinPublisher(
                    upstreams: [self],
                    // One at a time: what is out of date by the time of the next turn is not worth one.
                    machine: MergeMachine(inletCount: 1, window: 1),
                    actor: ActorTurn(actor: MainActor.shared)
                )
            )
        }
        .eraseToAnyPublisher()
    }
}

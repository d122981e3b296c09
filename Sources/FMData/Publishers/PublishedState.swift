import OpenCombine

/// A value that changes from any thread and can be watched: `object.state` reads it, `object.$state` publishes the current
/// value to each new subscriber and then every change, on the thread that made it.
///
/// OpenCombine's `@Published` does the same for an object that is confined to one thread; ours is not.
@propertyWrapper
struct PublishedState<Value: Sendable>: @unchecked Sendable {
    // @unchecked: the only stored property is a subject that guards its value and its subscribers by a lock of its own.
    private let subject: CurrentValueSubject<Value, Never>

    init(wrappedValue: Value) {
        subject = CurrentValueSubject(wrappedValue)
    }

    var wrappedValue: Value {
        get { subject.value }
        nonmutating set { subject.send(newValue) }
    }

    var projectedValue: AnyPublisher<Value, Never> {
        subject.eraseToAnyPublisher()
    }
}

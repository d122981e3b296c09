public import OpenCombine

/// A value of ``DataAPI/Database`` that changes from any thread and can be watched: `database.credentials` reads it,
/// `database.$credentials` publishes the present value to each new subscriber and then every change, on the thread that made
/// it. Never finishes.
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
    public var projectedValue: AnyPublisher<Value, Never> { subject.eraseToAnyPublisher() }

    func set(_ value: Value) {
        subject.send(value)
    }
}

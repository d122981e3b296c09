import NIOConcurrencyHelpers

/// The time in which a database acts as one account, and what it knows as that.
///
/// What begins in a tenure ends with it. When the credentials are replaced by those of another account, the calls under
/// way fail (``TenuredPublisher``), what has been read already is handed to nobody any more (``Publisher/read(in:)``),
/// and what was remembered goes with the tenure, also what an answer that comes late still writes into it.
final class Tenure: Sendable {
    /// The reads that calls share while they are under way.
    let reads = SharedReads()
    /// What is known of the layouts, to explain errors by.
    let layouts: LayoutMemory
    /// How many records the pages of the layouts have.
    let pageSizes = PageSizes()
    /// The layouts that the account may see, as it was last told. Layouts hold their database, so names only.
    let layoutNames = NIOLockedValueBox<[LayoutListBody.Entry]>([])

    private struct State {
        var isOver = false
        var calls: [Int: any TenuredCall] = [:]
        var lastCall = 0
    }

    private let state = NIOLockedValueBox(State())

    init(time: SessionTime) {
        layouts = LayoutMemory(time: time)
    }

    var isOver: Bool { state.withLockedValue { $0.isOver } }

    /// A call begins. Returns its number; `nil` when it comes too late.
    func enter(_ call: any TenuredCall) -> Int? {
        state.withLockedValue { state in
            guard !state.isOver else { return nil }
            state.lastCall += 1
            state.calls[state.lastCall] = call
            return state.lastCall
        }
    }

    /// A call has ended.
    func leave(_ number: Int) {
        let call = state.withLockedValue { $0.calls.removeValue(forKey: number) }
        // It may be destroyed here, with whatever it holds, so not under the lock.
        withExtendedLifetime(call) {}
    }

    /// It is over. Returns the calls that are under way, in the order in which they began, to be told of it.
    func end() -> [any TenuredCall] {
        state.withLockedValue { state in
            defer { state.calls = [:] }
            state.isOver = true
            return state.calls.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}

/// Something under way that ends with its tenure.
protocol TenuredCall: AnyObject, Sendable {
    func tenureEnded()
}

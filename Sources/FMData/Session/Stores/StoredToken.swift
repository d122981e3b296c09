import NIOConcurrencyHelpers
import OpenCombine

/// One entry of a token store, as a pool uses it: one operation after the other, in the order in which they were asked
/// for, so that a dead token is out before the next one is looked up.
final class StoredToken: Sendable {
    private let store: DataAPI.TokenStore.Shared
    private let key: DataAPI.TokenStore.Key
    private let onFailure: @Sendable (any Error) -> Void
    private let last = NIOLockedValueBox<Task<Void, Never>?>(nil)

    /// `nil` when there is no store, or no key to use it with.
    init?(
        _ store: DataAPI.TokenStore,
        _ key: DataAPI.TokenStore.Key?,
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        guard let shared = store.shared, let key else { return nil }
        self.store = shared
        self.key = key
        self.onFailure = onFailure
    }

    /// Reports what the store holds, unless the loading is cancelled.
    func load(_ report: @escaping @Sendable (SessionToken?) -> Void) -> Loading {
        let loading = Loading(report)
        run { [self] in
            let token = await attempt { try await store.load(key) } ?? nil
            loading.finish(token.flatMap(SessionToken.init(stored:)))
        }
        return loading
    }

    func save(_ token: SessionToken) {
        run { [self] in await attempt { try await store.save(token.value, key) } }
    }

    func drop(_ token: SessionToken) {
        run { [self] in await attempt { try await store.remove(token.value, key) } }
    }

    /// Reports whether the store holds another token than this one by now, or none, so that nobody will use this one.
    func ifReplaced(_ token: SessionToken, _ report: @escaping @Sendable (Bool) -> Void) {
        run { [self] in
            let stored = await attempt { try await store.load(key) }
            // A store that cannot be read does not say that nobody uses the session.
            report(stored.map { $0 != token.value } ?? false)
        }
    }

    /// Calls back when everything that was asked for so far is done.
    func afterwards(_ body: @escaping @Sendable () -> Void) {
        run { body() }
    }

    @discardableResult
    private func attempt<Value: Sendable>(_ operation: () async throws -> Value) async -> Value? {
        do {
            return try await operation()
        } catch {
            onFailure(error)
            return nil
        }
    }

    private func run(_ operation: @escaping @Sendable () async -> Void) {
        last.withLockedValue { last in
            let before = last
            last = Task {
                await before?.value
                await operation()
            }
        }
    }
}

extension SessionToken {
    /// A text that a store holds; `nil` when it cannot be a token, which goes into a header as it is.
    fileprivate init?(stored text: String) {
        guard (1...4096).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            return nil
        }
        self.init(text)
    }
}

extension StoredToken {
    /// A question to the store whose answer may be waived.
    final class Loading: Sendable {
        private let report: NIOLockedValueBox<(@Sendable (SessionToken?) -> Void)?>

        fileprivate init(_ report: @escaping @Sendable (SessionToken?) -> Void) {
            self.report = NIOLockedValueBox(report)
        }

        fileprivate func finish(_ token: SessionToken?) {
            let report = report.withLockedValue { report in
                defer { report = nil }
                return report
            }
            report?(token)
        }

        func cancel() {
            report.withLockedValue { $0 = nil }
        }
    }
}

extension StoredToken.Loading: Cancellable {}

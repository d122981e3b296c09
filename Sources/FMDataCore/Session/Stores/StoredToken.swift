import NIOConcurrencyHelpers
import OpenCombine

/// A pool's access to one entry of a token store. Operations run one after the other, in the order of the calls, so
/// that an invalid token is removed before the next one is looked up.
final class StoredToken: Sendable {
    private let store: DataAPI.TokenStore.Shared
    private let key: DataAPI.TokenStore.Key
    private let onFailure: @Sendable (any Error) -> Void
    private let work = OrderedWork()

    /// `nil` when there is no store or no key.
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

    /// Reports the stored token, unless the loading is cancelled. A failure is reported only if the store's failure
    /// policy is `.fail`; otherwise the store counts as empty.
    func load(
        _ report: @escaping @Sendable (Result<SessionToken?, FMRest.APIError>) -> Void
    ) -> Loading {
        let loading = Loading(report)
        work.add { [self] in loading.finish(await loadNow()) }
        return loading
    }

    /// Reports whether the store keeps the token: `false` if it fails, or if another process has put a token there
    /// meanwhile.
    func save(_ token: SessionToken, _ report: @escaping @Sendable (_ isKept: Bool) -> Void) {
        work.add { [self] in
            let isKept = try? await attempt { try await store.save(token.value, key) }.get()
            report(isKept ?? false)
        }
    }

    func drop(_ token: SessionToken) {
        work.add { [self] in _ = await attempt { try await store.remove(token.value, key) } }
    }

    /// Reports whether no other process will use this token: the store now holds another one or none.
    ///
    /// - Parameter isOwn: whether that is known without the store, because it has refused the token. Called when all
    ///   operations requested before are done.
    func ifUnshared(
        _ token: SessionToken,
        isOwn: @escaping @Sendable () -> Bool,
        _ report: @escaping @Sendable (Bool) -> Void
    ) {
        work.add { [self] in
            if isOwn() { return report(true) }
            switch await attempt({ try await store.load(key) }) {
            case .success(let stored): report(stored != token.value)
            // If the store cannot be read, another process may still use the session.
            case .failure: report(false)
            }
        }
    }

    /// Calls `body` when all operations requested so far are done.
    func afterwards(_ body: @escaping @Sendable () -> Void) {
        work.add { body() }
    }

    private func loadNow() async -> Result<SessionToken?, FMRest.APIError> {
        switch await attempt({ try await store.load(key) }) {
        case .success(let text?):
            if let token = SessionToken(stored: text) { return .success(token) }
            // The unusable entry would keep the next token out.
            _ = await attempt { try await store.remove(text, key) }
            return .success(nil)
        case .success(nil):
            return .success(nil)
        case .failure(let error):
            return store.failurePolicy == .fail ? .failure(.tokenStore(error)) : .success(nil)
        }
    }

    private func attempt<Value: Sendable>(_ operation: () async throws -> Value) async -> Result<Value, any Error> {
        do {
            return .success(try await operation())
        } catch {
            onFailure(error)
            return .failure(error)
        }
    }
}

extension SessionToken {
    /// A token from a store; `nil` if the text cannot be a token, since it is put into a header unchanged.
    init?(stored text: String) {
        guard (1...4096).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            return nil
        }
        self.init(text)
    }
}

extension StoredToken {
    /// A read of the store whose result can be discarded by cancelling.
    final class Loading: Sendable {
        private let report: NIOLockedValueBox<(@Sendable (Result<SessionToken?, FMRest.APIError>) -> Void)?>

        fileprivate init(
            _ report: @escaping @Sendable (Result<SessionToken?, FMRest.APIError>) -> Void
        ) {
            self.report = NIOLockedValueBox(report)
        }

        fileprivate func finish(_ result: Result<SessionToken?, FMRest.APIError>) {
            let report = report.withLockedValue { report in
                defer { report = nil }
                return report
            }
            report?(result)
        }

        func cancel() {
            report.withLockedValue { $0 = nil }
        }
    }
}

extension StoredToken.Loading: Cancellable {}

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

    /// Reports what the store holds, unless the loading is cancelled. A failure is reported by those stores that are to be
    /// heard; one of the others counts as empty.
    func load(
        _ report: @escaping @Sendable (Result<SessionToken?, FMRest.APIError>) -> Void
    ) -> Loading {
        let loading = Loading(report)
        run { [self] in loading.finish(await loadNow()) }
        return loading
    }

    /// Reports whether the store has kept it: not when it fails, or when another process has put a token there meanwhile.
    func save(_ token: SessionToken, _ report: @escaping @Sendable (_ isKept: Bool) -> Void) {
        run { [self] in
            let isKept = try? await attempt { try await store.save(token.value, key) }.get()
            report(isKept ?? false)
        }
    }

    func drop(_ token: SessionToken) {
        run { [self] in _ = await attempt { try await store.remove(token.value, key) } }
    }

    /// Reports whether the store holds another token than this one by now, or none, so that nobody will use this one.
    func ifReplaced(_ token: SessionToken, _ report: @escaping @Sendable (Bool) -> Void) {
        run { [self] in
            switch await attempt({ try await store.load(key) }) {
            case .success(let stored): report(stored != token.value)
            // A store that cannot be read does not say that nobody uses the session.
            case .failure: report(false)
            }
        }
    }

    /// Calls back when everything that was asked for so far is done.
    func afterwards(_ body: @escaping @Sendable () -> Void) {
        run { body() }
    }

    private func loadNow() async -> Result<SessionToken?, FMRest.APIError> {
        switch await attempt({ try await store.load(key) }) {
        case .success(let text?):
            if let token = SessionToken(stored: text) { return .success(token) }
            // It would keep the next token out.
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

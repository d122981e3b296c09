import NIOCore

/// Asks the Sentinels of a store for its master: one after the other, until one knows it. Confined to an event loop.
///
/// A Sentinel may name a process that is not the master any more, or not yet; the connection to it asks for that.
final class MasterSearch {
    private let name: String
    private let settings: StoreConnectionMachine.Settings
    private let dialer: StoreDialer
    private let report: (Result<StoreAddress.Place, StoreError>) -> Void

    private var others: ArraySlice<StoreAddress.Sentinel>
    private var connection: StoreConnection?
    /// What is reported if no Sentinel knows the master: a refused login, rather than one that is not there.
    private var failure = StoreError.noMaster

    /// - Parameters:
    ///   - settings: those of the connections to the Sentinels.
    ///   - report: gets the result, once, unless the search is cancelled.
    init(
        for name: String,
        at sentinels: [StoreAddress.Sentinel],
        settings: StoreConnectionMachine.Settings,
        dialer: StoreDialer,
        report: @escaping (Result<StoreAddress.Place, StoreError>) -> Void
    ) {
        self.name = name
        self.settings = settings
        self.dialer = dialer
        self.report = report
        others = sentinels[...]
    }

    func start() { askNext() }

    func cancel() {
        others = []
        connection.take()?.close()
    }

    private func askNext() {
        guard let sentinel = others.popFirst() else { return report(.failure(failure)) }
        let number = others.count
        let connection = StoreConnection(
            settings: settings,
            observer: StoreConnection.Observer(
                ready: { [weak self] _ in self?.ask(number) },
                fallBack: {},
                message: { _, _ in },
                subscriptionRefused: { _ in },
                closed: { [weak self] error in self?.failed(number, error) }
            )
        )
        self.connection = connection
        dialer.open(connection, to: .host(sentinel.host, port: sentinel.port)) { [weak self] in
            self?.failed(number, .unreachable)
        }
    }

    private func ask(_ number: Int) {
        let question = RESPCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name)
        connection?.send(question) { [weak self] answer in
            guard let self, isAsking(number) else { return }
            switch answer {
            case .success(let value):
                guard let place = Self.place(in: value) else { return failed(number, .noMaster) }
                connection.take()?.close()
                report(.success(place))
            case .failure(let error):
                failed(number, error)
            }
        }
    }

    /// A connection that fails tells so twice while a question is under way. Only the first time it is the one in use.
    ///
    /// - Parameter number: names the Sentinel by the number of those behind it.
    private func failed(_ number: Int, _ error: StoreError) {
        guard isAsking(number), let connection = connection.take() else { return }
        connection.close()
        if error.isSetup { failure = error }
        askNext()
    }

    private func isAsking(_ number: Int) -> Bool { connection != nil && others.count == number }

    /// The host and the port; `nil` if the Sentinel does not know such a store.
    private static func place(in answer: RESPValue) -> StoreAddress.Place? {
        guard let parts = answer.elements, parts.count == 2, let host = parts[0].string, !host.isEmpty,
            let port = parts[1].string.flatMap({ UInt16($0) }), port > 0
        else { return nil }
        return .host(host, port: Int(port))
    }
}

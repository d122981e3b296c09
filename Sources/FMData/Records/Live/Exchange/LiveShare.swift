/// The part of one live query in an exchange, as one account. What it says there is said in the order of the calls.
final class LiveShare: Sendable {
    typealias Exchange = DataAPI.LiveExchange

    let tenure: Tenure
    private let exchange: Exchange
    private let request: Exchange.Request
    private let work: OrderedWork

    init(_ exchange: Exchange, in tenure: Tenure, _ request: Exchange.Request, _ time: SessionTime) {
        self.exchange = exchange
        self.tenure = tenure
        self.request = request
        work = OrderedWork(startTask: time.startTask)
    }

    deinit {
        work.add { [exchange, request] in exchange.left(request) }
    }

    /// Asks what to do instead of a poll, and reports the answer on any thread.
    func ask(mustPoll: Bool, _ report: @escaping @Sendable (Exchange.Turn) -> Void) {
        work.add { [exchange, request] in report(await exchange.turn(request, mustPoll)) }
    }

    /// Reports an accepted poll.
    ///
    /// - Parameter changes: `nil` if there are none.
    func polled(_ changes: PolledChanges?, digest: String, duration: Duration) {
        var bytes = changes?.bytes
        if let count = bytes?.count, count > exchange.maximumBytes { bytes = PolledChanges(kind: .poll).bytes }
        let report = Exchange.Report(changes: bytes, digest: digest, duration: duration)
        work.add { [exchange, request] in await exchange.polled(request, report) }
    }

    func rested() {
        work.add { [exchange, request] in exchange.rested(request) }
    }

    func hinted() {
        work.add { [exchange, request] in exchange.hinted(request) }
    }
}

/// Makes the shares of a live query, one for each account that it is read as.
struct LiveSharing: Sendable {
    let exchange: DataAPI.LiveExchange
    /// The digest of the query.
    let query: String

    /// `nil` if the query does not share its polls.
    init?<R: RecordFields>(_ key: LiveRegistry.Key, _ layout: DataAPI.TypedLayout<R>) {
        let database = layout.layout.database
        guard let exchange = database.server.config.liveExchange, case .pool = database.sessions,
            key.options.related == .ignore, let query = key.sharedText(layout)
        else { return nil }
        self.exchange = exchange
        self.query = query.digest.hexadecimal
    }

    /// `nil` if the account cannot be named.
    func share(
        in tenure: Tenure,
        of database: DataAPI.Database,
        _ tell: @escaping @Sendable (DataAPI.LiveExchange.Event) -> Void
    ) -> LiveShare? {
        let login = tenure.attachments.value { SharedLogin(digest: database.sharedLogin(in: tenure)) }
        guard let login = login.digest else { return nil }
        let request = DataAPI.LiveExchange.Request(login: login, query: query, member: .init(), tell: tell)
        return LiveShare(exchange, in: tenure, request, database.server.time)
    }
}

/// The digest of a login, kept with its tenure, since it takes some time to compute.
private struct SharedLogin: Sendable {
    let digest: String?
}

extension DataAPI.Database {
    fileprivate func sharedLogin(in tenure: Tenure) -> String? {
        identity.login(in: tenure)?.key(of: name, on: server)?.digest
    }
}

extension LiveRegistry.Key {
    /// What is the same for queries that share their polls; `nil` if this one does not.
    fileprivate func sharedText<R: RecordFields>(_ layout: DataAPI.TypedLayout<R>) -> DigestText? {
        var parts = [self.layout, "\(options.watch.method)"]
        let found: DataAPI.FoundSet<R>
        switch query {
        case .copy: return nil
        case .record(let id):
            parts.append("record \(id)")
            found = DataAPI.FoundSet(layout: layout)
        case .found(let find, let options):
            found = DataAPI.FoundSet(layout: layout, find: find, options)
        }
        guard !found.options.runsScripts else { return nil }
        do {
            let options: [WireOption]
            switch found.request(limit: 1) {
            case .range(let query): options = try query.options.wireOptions(dateFormats: layout.layout.dateFormats)
            case .find(let query):
                // A find that FileMaker cannot express has no requests here, and no live query.
                guard !query.query.isEmpty else { return nil }
                options = try query.options.wireOptions(dateFormats: layout.layout.dateFormats)
                parts += query.query.map { request in
                    DigestText(request.sorted { $0.key < $1.key }.flatMap { ["\($0.key)", "\($0.value)"] }).text
                }
            }
            parts += options.sorted { $0.name < $1.name }.flatMap { [$0.name, $0.textInURL] }
        } catch {
            return nil
        }
        return DigestText(parts)
    }
}

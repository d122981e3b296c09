import Dispatch
import FMData
import OpenCombine
import OpenCombineDispatch

// A model of the main actor over a layer that belongs to no actor: every operator that takes a closure.

nonisolated struct Site: Sendable {
    let server: DataAPI.Server

    private var people: DataAPI.TypedLayout<Person> {
        server.addDatabase("World", credentials: Credentials(user: "admin", password: "secret")).layout(Person.self)
    }

    func counts() -> AnyPublisher<Int, FMRest.APIError> { people.count() }

    func names() -> AnyPublisher<String, FMRest.APIError> {
        people.all(pageSize: 1).map(\.fieldData.name).eraseToAnyPublisher()
    }

    func pages() -> AnyPublisher<[String], FMRest.APIError> {
        people.all(pageSize: 2).pages.map { page in page.records.map(\.fieldData.name) }.eraseToAnyPublisher()
    }

    func live() -> AnyPublisher<[String], FMRest.APIError> {
        people.live().map { value in value.records.map(\.fieldData.name) }.eraseToAnyPublisher()
    }

    func written() -> DataAPI.Batch { people.writing([1, 2].map { .edit($0, setting: [.city: "Oslo"]) }) }

    /// Fails with the code 105.
    func missing() -> AnyPublisher<Int, FMRest.APIError> {
        people.layout.database.addLayout("Missing").getLayoutMetadata().map { $0.fieldMetaData.count }
            .eraseToAnyPublisher()
    }

    nonisolated struct Person: LayoutRecord {
        static let layout = "Contacts"
        var name: String
        var city: String

        enum CodingKeys: String, CodingKey { case name = "Name", city = "City" }
    }
}

@MainActor
final class Desk {
    private let site: Site
    private var calls = 0
    private var subscriptions: Set<AnyCancellable> = []

    init(_ server: DataAPI.Server) { site = Site(server: server) }

    /// Called by each closure; ends the program elsewhere, even where the compiler inserts no check of its own.
    @discardableResult
    private func here<Value>(_ value: Value = ()) -> Value {
        MainActor.preconditionIsolated()
        calls += 1
        return value
    }

    /// Subscribes, and waits for the end.
    private func run(_ name: String, _ publisher: some Publisher) async {
        let before = calls
        await withCheckedContinuation { end in
            publisher.sink(
                receiveCompletion: { _ in
                    self.here()
                    end.resume()
                },
                receiveValue: { _ in self.here() }
            )
            .store(in: &subscriptions)
        }
        // One is that of the completion.
        if calls < before + 2 { fatalError("\(name): no closure was called") }
    }

    func useEveryOperator() async throws {
        await runThoseOfOneValue()
        await runThoseThatSelect()
        await runThoseThatCompute()
        await runThoseThatThrow()
        await runThoseThatFail()
        await runThoseOfSeveralPublishers()
        await runThoseWithASchedule()
        await runThoseOfThisPackage()
        try await loop()
    }

    private func runThoseOfOneValue() async {
        await run("the three lines", site.counts().map { self.here("\($0)") }.catch { Just("\($0.code)") })
        await run("map", site.names().map { self.here($0.sorted()) })
        await run("compactMap", site.names().compactMap { self.here($0.first) })
        await run("filter", site.names().filter { self.here(!$0.isEmpty) })
        await run("removeDuplicates", site.names().removeDuplicates { self.here($0 == $1) })
        await run("scan", site.names().scan("") { self.here($0 + $1) })
        await run(
            "handleEvents",
            site.names().handleEvents(
                receiveSubscription: { _ in self.here() },
                receiveOutput: { _ in self.here() },
                receiveCompletion: { _ in self.here() },
                receiveCancel: { self.here() },
                receiveRequest: { _ in self.here() }
            )
        )
        await run(
            "breakpoint",
            site.names().breakpoint(
                receiveSubscription: { _ in self.here(false) },
                receiveOutput: { _ in self.here(false) },
                receiveCompletion: { _ in self.here(false) }
            )
        )
    }

    private func runThoseThatSelect() async {
        await run("first", site.names().first { self.here(!$0.isEmpty) })
        await run("last", site.names().last { self.here(!$0.isEmpty) })
        await run("drop", site.names().drop { self.here($0.isEmpty) })
        await run("prefix", site.names().prefix { self.here(!$0.isEmpty) })
        await run("contains", site.names().contains { self.here($0.isEmpty) })
        await run("allSatisfy", site.names().allSatisfy { self.here(!$0.isEmpty) })
        await run("prefix(untilOutputFrom:)", site.names().prefix(untilOutputFrom: PassthroughSubject<Int, Never>()))
        await run("drop(untilOutputFrom:)", site.names().drop(untilOutputFrom: site.counts()).prepend("first"))
        await run("output(in:)", site.names().output(in: 0..<2).map { self.here($0) })
        await run("dropFirst, prefix", site.names().dropFirst().prefix(1).map { self.here($0) })
    }

    private func runThoseThatCompute() async {
        await run("reduce", site.names().reduce("") { self.here($0 + $1) })
        await run("max", site.names().max { self.here($0 < $1) })
        await run("min", site.names().min { self.here($0 < $1) })
        await run("collect", site.names().collect().map { self.here($0.sorted()) })
        await run("collect(2)", site.names().collect(2).map { self.here($0.sorted()) })
        await run("count", site.names().count().map { self.here($0 + 1) })
        await run("ignoreOutput", site.names().ignoreOutput().count().map { self.here($0) })
        await run("replaceEmpty", site.names().filter(\.isEmpty).replaceEmpty(with: "none").map { self.here($0) })
        await run(
            "buffer",
            site.names().buffer(size: 9, prefetch: .keepFull, whenFull: .dropOldest).map { self.here($0) }
        )
    }

    private func runThoseThatThrow() async {
        await run("tryMap", site.names().tryMap { self.here($0) })
        await run("tryCompactMap", site.names().tryCompactMap { self.here($0.first) })
        await run("tryFilter", site.names().tryFilter { self.here(!$0.isEmpty) })
        await run("tryRemoveDuplicates", site.names().tryRemoveDuplicates { self.here($0 == $1) })
        await run("tryScan", site.names().tryScan("") { self.here($0 + $1) })
        await run("tryReduce", site.names().tryReduce("") { self.here($0 + $1) })
        await run("tryFirst", site.names().tryFirst { self.here(!$0.isEmpty) })
        await run("tryLast", site.names().tryLast { self.here(!$0.isEmpty) })
        await run("tryDrop", site.names().tryDrop { self.here($0.isEmpty) })
        await run("tryPrefix", site.names().tryPrefix { self.here(!$0.isEmpty) })
        await run("tryContains", site.names().tryContains { self.here($0.isEmpty) })
        await run("tryAllSatisfy", site.names().tryAllSatisfy { self.here(!$0.isEmpty) })
        await run("tryMax", site.names().tryMax { self.here($0 < $1) })
        await run("tryMin", site.names().tryMin { self.here($0 < $1) })
    }

    private func runThoseThatFail() async {
        await run("catch", site.missing().catch { self.here(Just($0.code == .fileMaker ? 1 : 0)) })
        await run("catch, asked again", site.missing().catch { _ in self.site.counts().map { self.here($0) } })
        await run("tryCatch", site.missing().tryCatch { _ in self.here(self.site.counts()) })
        await run("mapError", site.missing().mapError { self.here($0) })
        await run("retry", site.missing().retry(1).map { $0 }.catch { _ in self.here(Just(0)) })
        await run("replaceError", site.missing().replaceError(with: 0).map { self.here($0) })
    }

    private func runThoseOfSeveralPublishers() async {
        await run("flatMap", site.names().flatMap { _ in self.here(self.site.counts().map { self.here($0) }) })
        await run(
            "flatMap, one after the other",
            site.names().flatMap(maxPublishers: .max(1)) { _ in self.site.counts().map { self.here($0) } }
        )
        await run("switchToLatest", site.names().map { _ in self.site.counts() }.switchToLatest().map { self.here($0) })
        await run("zip", site.names().zip(site.names()) { self.here($0 + $1) })
        await run("append", site.counts().append(site.counts()).map { self.here($0) })
        await run("prepend", site.counts().prepend(site.counts()).map { self.here($0) })
        await run("Deferred", Deferred { self.here(self.site.counts()) }.map { self.here($0) })
        await run("multicast", site.names().multicast { self.here(PassthroughSubject()) }.autoconnect())
        await run("share", site.names().share().map { self.here($0) })
        await run(
            "makeConnectable",
            site.counts().assertNoFailure().makeConnectable().autoconnect().map { self.here($0) }
        )
    }

    private func runThoseWithASchedule() async {
        let queue = DispatchQueue.main
        await run("debounce", site.names().debounce(for: .milliseconds(1), scheduler: queue).map { self.here($0) })
        await run(
            "throttle",
            site.names().throttle(for: .milliseconds(1), scheduler: queue, latest: true).map { self.here($0) }
        )
        await run("delay", site.names().delay(for: .milliseconds(1), scheduler: queue).map { self.here($0) })
        await run("timeout", site.names().timeout(.seconds(60), scheduler: queue) { .noRecord }.map { self.here($0) })
        await run("measureInterval", site.names().measureInterval(using: queue).map { self.here($0) })
        await run("receive(on:)", site.names().receive(on: queue).map { self.here($0) })
        let elsewhere = site.names().subscribe(on: DispatchQueue.global())
        await run("receive(on: MainActor.shared)", elsewhere.receive(on: MainActor.shared).map { self.here($0) })
        await run("map(on:)", elsewhere.map(on: MainActor.shared) { self.here($0) })
    }

    private func runThoseOfThisPackage() async {
        await run("merge", [site.names(), site.names()].merge().map { self.here($0) })
        await run("merge(with:)", site.names().merge(with: site.names()).map { self.here($0) })
        await run("combineLatest", site.counts().combineLatest(site.counts()) { self.here($0 + $1) })
        await run("combineLatest of many", [site.counts(), site.counts()].combineLatest().map { self.here($0) })
        await run("catchError", site.missing().catchError(of: .layoutMissing) { _ in self.here(self.site.counts()) })
        await run("replaceError(of:)", site.missing().replaceError(of: .layoutMissing, with: 0).map { self.here($0) })
        await run("pages", site.pages().map { self.here($0) })
        await run("live", site.live().map { self.here($0) }.first())
        await run("a batch", site.written().map { self.here($0.index) })
        await run("a batch's summary", site.written().summary.map { self.here($0.updatedCount) })
        await run("a batch's progress", site.written().progress.map { self.here($0.updatedCount) })
    }

    private func loop() async throws {
        for try await _ in [site.names(), site.names()].merge().map({ self.here($0) }).values { here() }
        for await _ in site.names().map({ self.here($0) }).replaceError(with: "").values { here() }
        _ = try await site.counts().map { self.here($0) }.firstValue()
    }
}

extension FMRest.APIError {
    fileprivate static var noRecord: FMRest.APIError { FMRest.APIError(.timeout, reason: "too late") }
}

import Foundation
import NIOCore
import OpenCombine

/// One look at the records of a live query: a publisher of what it found, made anew each time.
struct Look<R: RecordFields>: Sendable {
    typealias Publisher = AnyPublisher<LookFindings<R>, FMRest.APIError>
    typealias Record = DataAPI.TypedLayout<R>.Record

    /// - Parameters:
    ///   - held: what is known so far.
    ///   - memory: what the look before has left.
    ///   - terms: as what and for how long it asks.
    let perform: @Sendable (_ held: LiveState<R>, _ memory: LookMemory, _ terms: LookTerms) -> Publisher
    /// Whether a record that a look has not found is still there.
    let isThere: @Sendable (Int, _ terms: LookTerms) -> AnyPublisher<Bool, FMRest.APIError>
}

extension Look {
    /// At one record, by its id.
    init(record id: Int, of layout: DataAPI.TypedLayout<R>) {
        perform = { _, memory, terms in
            layout.callOptions(terms.apply).bound(to: terms.tenure).record(id, isolation: nil)
                .map { LookFindings(order: [id], read: [$0], memory: memory) }
                .replaceError(of: .recordMissing, with: LookFindings(memory: memory))
        }
        isThere = { _, terms in layout.layout.callOptions(terms.apply).bound(to: terms.tenure).isThere(id) }
    }

    /// At a found set, as the options say.
    init(_ found: DataAPI.FoundSet<R>, _ options: DataAPI.LiveOptions) {
        perform = { held, memory, terms in
            let found = found.callOptions(terms.apply).bound(to: terms.tenure)
            return WaysToLook(found: found, options: options).look(held, memory)
        }
        isThere = { id, terms in
            found.layout.layout.callOptions(terms.apply).bound(to: terms.tenure).isThere(id)
        }
    }
}

extension DataAPI.Layout {
    fileprivate func isThere(_ id: Int) -> AnyPublisher<Bool, FMRest.APIError> {
        let record: AnyPublisher<DataAPI.RecordResponse<NoFields, DataAPI.EmptyPortal>, FMRest.APIError> =
            getRecordById(recordId: id, recordQuery: DataAPI.RecordQuery(portal: []), isolation: nil)
        return record.map { _ in true }
            .replaceError(of: .recordMissing, with: false)
            // It is there, and the account may not see it any more.
            .replaceError(of: .recordAccessDenied, with: true)
    }
}

/// See ``DataAPI/LiveWatch``.
private struct WaysToLook<R: RecordFields>: Sendable {
    typealias Findings = AnyPublisher<LookFindings<R>, FMRest.APIError>
    typealias Record = DataAPI.TypedLayout<R>.Record

    let found: DataAPI.FoundSet<R>
    let options: DataAPI.LiveOptions

    private var layout: DataAPI.Layout { found.layout.layout }

    func look(_ held: LiveState<R>, _ memory: LookMemory) -> Findings {
        var memory = memory
        memory.looks += 1
        switch options.related {
        case .ignore: return lookAtRecords(held, memory)
        case .reread(let count):
            return memory.looks.isMultiple(of: max(1, count)) ? reread(memory) : lookAtRecords(held, memory)
        case .watch(let name):
            return ids(of: DataAPI.FoundSet(layout: layout.database.addLayout(name).of(NoFields.self)))
                .followed { [memory] related -> Findings in
                    var next = memory
                    next.related = related.ids
                    return next.related == memory.related ? lookAtRecords(held, next) : reread(next)
                }
                .eraseToAnyPublisher()
        }
    }

    private func lookAtRecords(_ held: LiveState<R>, _ memory: LookMemory) -> Findings {
        switch options.watch.way {
        case .automatic, .reread: reread(memory)
        case .scan(let name): scan(through: name, held, memory)
        case .stamp(let field, let name, let overlap, let reconcile):
            StampLook(field: field, layout: name, overlap: overlap, reconcile: reconcile, ways: self)
                .look(held, memory)
        case .log(let name, let serial, let reconcile):
            LogLook(layout: name, serial: serial, reconcile: reconcile, ways: self).look(held, memory)
        case .script(let name, let parameter): script(name, parameter, held, memory)
        }
    }

    // MARK: Everything

    /// Reads all records.
    func reread(_ memory: LookMemory) -> Findings {
        found.all(.offset, isolation: nil).pages
            .tryReduce([DataAPI.RecordPage<R>]()) { pages, page in
                guard page.progress.delivered <= options.maximumRecords else { throw tooMany }
                return pages + [page]
            }
            .map { pages in LookFindings(pages, memory) }
            .mapError(FMRest.APIError.init(wrapping:))
            .eraseToAnyPublisher()
    }

    private var tooMany: FMRest.APIError {
        FMRest.APIError(
            .invalidRequest,
            reason:
                "The live query has more than \(options.maximumRecords) records, too many to read them all each time.",
            hint:
                "Make a layout of the same table with one field and no portal, and watch by .scan(\"its name\"); or raise "
                + "maximumRecords."
        )
    }

    // MARK: Ids first

    private func scan(through name: String, _ held: LiveState<R>, _ memory: LookMemory) -> Findings {
        ids(of: found.of(NoFields.self).shown(by: name))
            .followed { compare($0, held, memory) }
            .eraseToAnyPublisher()
    }

    func ids(of records: DataAPI.FoundSet<NoFields>) -> AnyPublisher<ScannedIDs, FMRest.APIError> {
        records.portals([]).all(.offset, isolation: nil).pages
            .reduce(ScannedIDs()) { scanned, page in
                var scanned = scanned
                scanned.ids += page.records.map { RecordVersion(id: $0.recordId, modId: $0.modId) }
                scanned.isTorn = scanned.isTorn || !page.progress.drift.isEmpty
                scanned.isShort = page.progress.total.map { scanned.ids.count < $0 } ?? false
                return scanned
            }
            .eraseToAnyPublisher()
    }

    /// Reads what has changed: one by one, or all together where that is most of it.
    func compare(_ scanned: ScannedIDs, _ held: LiveState<R>, _ memory: LookMemory) -> Findings {
        let changed = held.changed(in: scanned.ids)
        if changed.count > max(20, scanned.ids.count / 5) { return reread(memory) }
        return read(changed)
            .map { records in
                LookFindings(
                    order: scanned.ids.map(\.id),
                    read: records,
                    isTorn: scanned.isTorn,
                    isShort: scanned.isShort,
                    memory: memory
                )
            }
            .eraseToAnyPublisher()
    }

    /// One after the other: a look takes one session at most. Who is gone by then is left out, or out of the account's
    /// sight.
    func read(_ ids: [Int]) -> AnyPublisher<[Record], FMRest.APIError> {
        ids.publisher
            .setFailureType(to: FMRest.APIError.self)
            .orderedMap(concurrency: 1) { id in
                layout.getRecordById(
                    recordId: id,
                    recordQuery: DataAPI.RecordQuery(layoutResponse: found.responseLayout, portal: found.portals),
                    isolation: nil
                )
                .map { (response: DataAPI.RecordResponse<R, R.Portals>) in response.data }
                .replaceError(of: .recordMissing, .recordAccessDenied, with: [])
            }
            .collect()
            .eraseToAnyPublisher()
    }

    // MARK: By a script

    private func script(
        _ name: String,
        _ parameter: String?,
        _ held: LiveState<R>,
        _ memory: LookMemory
    ) -> Findings {
        layout.executeScript(script: name, scriptParam: parameter, isolation: nil)
            .failOnScriptError()
            .tryMap { response in try ScannedIDs(json: response.scriptResult ?? "") }
            .mapError(FMRest.APIError.init(wrapping:))
            .followed { compare($0, held, memory) }
            .eraseToAnyPublisher()
    }
}

extension LookFindings {
    /// All records of a found set, page after page.
    fileprivate init(_ pages: [DataAPI.RecordPage<R>], _ memory: LookMemory) {
        let read = pages.flatMap(\.records)
        self.init(
            order: read.map(\.recordId),
            read: read,
            isTorn: pages.contains { !$0.progress.drift.isEmpty },
            isShort: pages.last?.progress.total.map { read.count < $0 } ?? false,
            memory: memory
        )
    }
}

/// The ids and versions of records in an order.
private struct ScannedIDs: Equatable {
    var ids: [RecordVersion] = []
    var isTorn = false
    var isShort = false
}

extension ScannedIDs {
    /// `[[17, 3], [18, 0]]`, numbers or texts.
    init(json: String) throws {
        do {
            ids = try JSONDecoder().decode([[LooseInteger]].self, from: Data(json.utf8)).map { pair in
                guard pair.count == 2 else { throw NoPairs() }
                return RecordVersion(id: pair[0].value, modId: pair[1].value)
            }
        } catch {
            throw FMRest.APIError(
                .script,
                reason: "The script's result is no list of ids and modIds.",
                hint: "It has to be JSON, one pair for each record in the query's order: [[17, 3], [18, 0]]."
            )
        }
    }

    private struct NoPairs: Error {}

    private struct LooseInteger: Decodable {
        let value: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                value = number
            } else {
                guard let number = Int(try container.decode(String.self)) else { throw NoPairs() }
                value = number
            }
        }
    }
}

extension Publisher where Failure == FMRest.APIError {
    /// One question after the other: what follows from the answer. OpenCombine's `flatMap` would keep the first for ever when the
    /// second fails.
    fileprivate func followed<Result>(
        by next: @escaping (Output) -> AnyPublisher<Result, Failure>
    ) -> AnyPublisher<Result, Failure> {
        orderedMap(concurrency: 1) { next($0).map { [$0] }.eraseToAnyPublisher() }.eraseToAnyPublisher()
    }
}

// MARK: - By stamps

/// Looks for what was modified lately. The mark comes from the data, never from a clock of the client's.
private struct StampLook<R: RecordFields> {
    let field: String
    let layout: String?
    let overlap: Duration
    let reconcile: Int
    let ways: WaysToLook<R>

    func look(_ held: LiveState<R>, _ memory: LookMemory) -> WaysToLook<R>.Findings {
        guard let mark = memory.mark, !held.isBlank else { return beginning(memory) }
        // Deletions have no stamp.
        if memory.looks >= reconcile { return whole(held, memory) }
        let from = mark.moved(by: .zero - overlap)
        let lately = DataAPI.FindField(named: field) >= from
        let everywhere = DataAPI.FoundSet(layout: ways.found.layout.layout.of(FieldData.self), find: lately)
        return stamps(everywhere).followed { changed -> WaysToLook<R>.Findings in
            var memory = memory
            memory.mark = changed.mark(after: mark)
            let versions = held.versions
            let known = memory.stamped
            let isQuiet = changed.stamped.allSatisfy { versions[$0.id] == $0.modId || known[$0.id] == $0.modId }
            // What the query did not find of them then, it does not find as long as they are not committed anew.
            memory.stamped = changed.versions
            if isQuiet {
                return .of(LookFindings(order: held.records.map(\.recordId), memory: memory))
            }
            // Which of them the query still finds, and where in its order, only the query knows.
            return whole(held, memory)
        }
        .eraseToAnyPublisher()
    }

    /// The records, and the stamp after which the next look begins: taken first, so that nothing falls between.
    private func beginning(_ memory: LookMemory) -> WaysToLook<R>.Findings {
        let newest = DataAPI.FoundSet(layout: ways.found.layout.layout.of(FieldData.self))
            .sorted(by: [DataAPI.SortQuery(fieldName: field, sortOrder: .descend)])
        return newest.shown(by: layout ?? ways.found.layout.layout.name).page(limit: 21)
            .map { Stamps($0.data, field, ways.format) }
            .followed { stamps -> WaysToLook<R>.Findings in
                var memory = memory
                memory.mark = stamps.mark(after: nil)
                memory.stamped = stamps.versions
                memory.looks = 0
                return ways.reread(memory)
            }
            .eraseToAnyPublisher()
    }

    private func whole(_ held: LiveState<R>, _ memory: LookMemory) -> WaysToLook<R>.Findings {
        var memory = memory
        memory.looks = 0
        return ways.ids(of: ways.found.of(NoFields.self).shown(by: layout ?? ways.found.layout.layout.name))
            .followed { [memory] in ways.compare($0, held, memory) }
            .eraseToAnyPublisher()
    }

    private func stamps(_ records: DataAPI.FoundSet<FieldData>) -> AnyPublisher<Stamps, FMRest.APIError> {
        records.shown(by: layout ?? ways.found.layout.layout.name).all(.offset, isolation: nil).pages
            .reduce(Stamps()) { stamps, page in
                var stamps = stamps
                stamps.stamped += Stamps(page.records, field, ways.format).stamped
                return stamps
            }
            .eraseToAnyPublisher()
    }

    /// Records with their modification stamps.
    private struct Stamps {
        struct Stamped {
            let id: Int
            let modId: Int
            let stamp: FMTimestamp?
        }

        var stamped: [Stamped] = []

        init() {}

        init(_ records: [DataAPI.TypedLayout<FieldData>.Record], _ field: String, _ format: ValueFormat) {
            stamped = records.map { record in
                Stamped(
                    id: record.recordId,
                    modId: record.modId,
                    stamp: record.fieldData[field]?.timestamp(format)
                )
            }
        }

        /// The modIds by record id.
        var versions: [Int: Int] {
            Dictionary(stamped.map { ($0.id, $0.modId) }, uniquingKeysWith: { max($0, $1) })
        }

        /// The greatest stamp, but for those that lie more than a day after the middle one: a clock that is wrong must not
        /// hide what all others write.
        func mark(after last: FMTimestamp?) -> FMTimestamp? {
            let stamps = (stamped.compactMap(\.stamp) + [last].compactMap(\.self)).sorted()
            guard !stamps.isEmpty else { return last }
            let limit = stamps[(stamps.count - 1) / 2].moved(by: .seconds(86_400))
            return stamps.last { $0 <= limit } ?? last
        }
    }
}

extension WaysToLook {
    fileprivate var format: ValueFormat { found.layout.server.encoding.values.format }
}

// MARK: - By a log

/// Looks whether the file has logged anything since, and compares the ids then: the log says which records were touched, and
/// only the query says which of them are its own.
private struct LogLook<R: RecordFields> {
    let layout: String
    let serial: String
    let reconcile: Int
    let ways: WaysToLook<R>

    func look(_ held: LiveState<R>, _ memory: LookMemory) -> WaysToLook<R>.Findings {
        guard let last = memory.serial, !held.isBlank else {
            return newest.followed { newest -> WaysToLook<R>.Findings in
                var memory = memory
                memory.serial = newest ?? 0
                memory.looks = 0
                return ways.reread(memory)
            }
            .eraseToAnyPublisher()
        }
        // Not everything that happens is logged.
        if memory.looks >= reconcile { return whole(held, memory) }
        let entries = DataAPI.FoundSet(
            layout: ways.found.layout.layout.database.addLayout(layout).of(FieldData.self),
            find: DataAPI.FindField(named: serial) > last
        )
        return entries.all(.offset, isolation: nil).collect().followed { entries -> WaysToLook<R>.Findings in
            var memory = memory
            memory.serial = max(last, entries.compactMap { $0.fieldData[serial]?.int }.max() ?? last)
            guard !entries.isEmpty else {
                return .of(LookFindings(order: held.records.map(\.recordId), memory: memory))
            }
            return whole(held, memory)
        }
        .eraseToAnyPublisher()
    }

    private func whole(_ held: LiveState<R>, _ memory: LookMemory) -> WaysToLook<R>.Findings {
        var memory = memory
        memory.looks = 0
        return ways.ids(of: ways.found.of(NoFields.self)).followed { [memory] in ways.compare($0, held, memory) }
            .eraseToAnyPublisher()
    }

    private var newest: AnyPublisher<Int?, FMRest.APIError> {
        DataAPI.FoundSet(layout: ways.found.layout.layout.database.addLayout(layout).of(FieldData.self))
            .sorted(by: [DataAPI.SortQuery(fieldName: serial, sortOrder: .descend)])
            .first(isolation: nil)
            .map { $0?.fieldData[serial]?.int }
            .eraseToAnyPublisher()
    }
}

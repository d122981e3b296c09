import Foundation

/// The part of a found set that an answer contains.
struct Page: Sendable {
    /// Starts at 1; nil if the request has none.
    var offset: Int?
    /// 100 records are returned if the request has none.
    var limit: Int?
    /// The answer to an offset beyond the last record.
    var pastEnd = Sandbox.FindPastEnd.recordMissing

    func checkPastEnd() throws {
        switch pastEnd {
        case .noRecordsMatch: throw FileMakerError(401)
        case .recordMissing: throw FileMakerError(101)
        case .emptyPage: break
        }
    }
}

/// A request that reads records. A range, one record and a find have the same order of steps.
///
/// Source: Claris FileMaker Data API Guide, "Run a script with another request": prerequest script, the request,
/// presort script, sort, script, response layout, and only then offset and limit.
struct Read {
    private let context: Context
    private let layout: LayoutModel
    private let responseLayout: LayoutModel?
    private let page: Page
    private let notation: DateNotation
    private let portals: JSONValue?
    private var plan: ScriptPlan

    init(_ context: Context, _ layout: LayoutModel, portals: JSONValue?, page: Page) throws {
        self.context = context
        self.layout = layout
        self.page = page
        self.portals = portals
        let call = context.call
        responseLayout = try context.responseLayout(
            call.bodyText("layout.response") ?? call.query["layout.response"],
            for: layout
        )
        notation = try context.notation()
        plan = try ScriptPlan(context)
        // Throws for a wrong portal name before a script runs.
        _ = try PortalSelection(on: responseLayout ?? layout, names: portals, context)
    }

    /// Performs the read. The session keeps the found set of a range or a find, but not that of reading one record.
    mutating func perform(
        sort: [SortModel],
        keepsFoundSet: Bool = true,
        _ find: (Reader) throws -> [Record]
    ) async throws -> Responder.Answer {
        try await plan.runPrerequest(context, on: layout)
        var state = ScriptState(layout: layout, foundSet: try find(context.reader()).map(\.id))
        if keepsFoundSet { context.keep(state.foundSet, in: layout.table) }
        try await plan.run(.presort, context, &state)
        if !sort.isEmpty, state.layout.table == layout.table {
            let reader = context.reader()
            let records = Self.records(state, reader)
            let sorted = reader.sorted(records, by: sort, table: layout.table, database: context.database)
            state = ScriptState(layout: state.layout, foundSet: sorted.map(\.id))
        }
        try await plan.run(.after, context, &state)
        return Responder.Answer(rendered: try render(state))
    }

    /// The records of the found set that still exist, in the order of the found set.
    private static func records(_ state: ScriptState, _ reader: Reader) -> [Record] {
        let table = reader.world.tables[state.layout.table]
        return state.foundSet.compactMap(table.record)
    }

    private func render(_ state: ScriptState) throws -> [UInt8] {
        let reader = context.reader()
        // If a script ended on another layout, the answer comes from that layout.
        let shown = responseLayout.flatMap { $0.table == state.layout.table ? $0 : nil } ?? state.layout
        let found = Self.records(state, reader)
        if let offset = page.offset, offset > found.count { try page.checkPastEnd() }
        let records = found.dropFirst((page.offset ?? 1) - 1).prefix(page.limit ?? 100)
        let names = shown.name == (responseLayout ?? layout).name ? portals : nil
        let tickets = TicketBook(
            session: context.session,
            origin: context.call.request.origin,
            now: context.engine.clock.now
        )
        let renderer = RecordRenderer(
            context,
            reader: reader,
            layout: shown,
            selection: try PortalSelection(on: shown, names: names, context),
            notation: notation,
            foundSet: found,
            containerURL: tickets.url
        )
        var writer = JSONWriter()
        writer.beginObject()
        plan.write(to: &writer)
        if context.engine.version >= .v18 {
            let total = reader.world.tables[shown.table].records.count
            writer.key("dataInfo")
            writer.value([
                "database": .string(context.database.name), "layout": .string(shown.name),
                "table": .string(context.database.occurrences[shown.occurrence].name), "totalRecordCount": .int(total),
                "foundCount": .int(found.count), "returnedCount": .int(records.count),
            ])
        }
        writer.key("data")
        writer.beginArray()
        for record in records { renderer.write(record, to: &writer) }
        writer.endArray()
        writer.endObject()
        tickets.hand(to: context.engine)
        return writer.bytes
    }
}

/// The container URLs in one answer.
private final class TicketBook {
    private let session: Session
    private let origin: String
    private let now: Date
    private var tickets: [String: ContainerTicket] = [:]

    init(session: Session, origin: String, now: Date) {
        self.session = session
        self.origin = origin
        self.now = now
    }

    /// A URL that is valid for this session and this content of the record.
    func url(_ content: ContainerContent, table: Int, recordId: Int, slot: Int) -> String {
        let key = Scrambler.hex(
            64,
            seed: "\(session.token) \(table) \(recordId) \(slot) \(content.filename) \(content.bytes.count)",
            number: content.bytes.reduce(17) { ($0 &* 31) &+ Int($1) },
            uppercase: true
        )
        tickets[key] = ContainerTicket(token: session.token, content: content, handedOut: now)
        let suffix = ContainerContent.streamedExtension(of: content.filename).map { ".\($0)" } ?? ""
        return "\(origin)/Streaming_SSL/MainDB/\(key)\(suffix)?RCType=EmbeddedRCFileProcessor"
    }

    func hand(to engine: Engine) {
        guard !tickets.isEmpty else { return }
        engine.withState { state in
            // If the session was closed meanwhile, its URLs are not registered. A request with a key has no session.
            guard session.token.isEmpty || state.sessions[session.token] != nil else { return }
            state.tickets.merge(tickets) { $1 }
        }
    }
}

import Logging
import NIOConcurrencyHelpers
import OpenCombine

/// Compares what answers show with the types that they are read into: the first record of each layout and type.
///
/// It knows its database by the states that it changes, and keeps nothing alive.
final class ModelWatch: @unchecked Sendable {
    // @unchecked: `state` is guarded by `lock`; of the rest only `willChange` is not declared Sendable, and it guards its
    // subscribers by a lock.

    private struct Pair: Hashable {
        let layout: ExactName
        let type: ObjectIdentifier
    }

    private struct State {
        var seen: Set<Pair> = []
        var drifts: [DataAPI.ModelDrift] = []
        /// Counts how often they have changed.
        var version = 0
        /// Whether somebody is telling what has changed; others leave it to them, so that the latest is told last.
        var isTelling = false
    }

    private let database: String
    private let keys: DecodingOptions.KeyStrategy
    private let logger: Logger?
    private let shown: PublishedState<[DataAPI.ModelDrift]>
    private let willChange: ObservableObjectPublisher
    private let lock = NIOLock()
    private var state = State()

    /// `nil` when the configuration does not ask for it, and with a decoder of the user's, which alone knows what keys it makes of
    /// names.
    init?(
        _ database: String,
        _ config: DataAPI.Config,
        shown: PublishedState<[DataAPI.ModelDrift]>,
        willChange: ObservableObjectPublisher
    ) {
        guard config.reportsModelDrift, config.decoder == nil else { return nil }
        self.database = database
        self.shown = shown
        self.willChange = willChange
        keys = config.decoding.keys
        logger = config.logger
    }

    /// Looks at the first record of an answer.
    ///
    /// - Parameters:
    ///   - names: the names of its fields; asked for when this layout was not yet compared with this type.
    ///   - tenure: of the account that it was read as.
    ///   - logger: that of the call; `nil` for the configuration's.
    func look(
        at names: () -> [String],
        of layout: String,
        as type: Any.Type,
        in tenure: Tenure? = nil,
        logger: Logger?
    ) {
        let pair = Pair(layout: ExactName(layout), type: ObjectIdentifier(type))
        let isNew = lock.withLock { tenure?.isOver != true && state.seen.insert(pair).inserted }
        guard isNew, let fields = ModelFields(type) else { return }
        let drift = fields.drift(from: layout, showing: names(), keys: keys)
        guard !drift.isEmpty else { return }
        (logger ?? self.logger)?.tell(drift, of: database)
        change { state in
            if tenure?.isOver != true { state.drifts.append(drift) }
        }
    }

    /// Another account may see other fields.
    func beginAnew() {
        change { state in
            state.seen = []
            state.drifts = []
        }
    }

    private func change(_ change: (inout State) -> Void) {
        var untold = lock.withLock { () -> (drifts: [DataAPI.ModelDrift], version: Int)? in
            change(&state)
            state.version += 1
            if state.isTelling { return nil }
            state.isTelling = true
            return (state.drifts, state.version)
        }
        while let told = untold {
            willChange.send()
            shown.set(told.drifts)
            untold = lock.withLock {
                state.isTelling = state.version != told.version
                return state.isTelling ? (state.drifts, state.version) : nil
            }
        }
    }
}

/// What watches over the models, and as which account it looks.
struct ModelSight: Sendable {
    let watch: ModelWatch
    let tenure: Tenure
}

extension Logger {
    /// A line of names: no value of a field is in it.
    fileprivate func tell(_ drift: DataAPI.ModelDrift, of database: String) {
        var metadata: Logger.Metadata = [
            "database": "\(database)", "layout": "\(drift.layout)", "record": "\(drift.record)",
        ]
        if !drift.missing.isEmpty { metadata["missing"] = .array(drift.missing.map { .string($0) }) }
        if !drift.added.isEmpty { metadata["added"] = .array(drift.added.map { .string($0) }) }
        log(
            level: drift.missing.isEmpty ? .notice : .warning,
            "layout differs from its type of records",
            metadata: metadata
        )
    }
}

/// What is compared with the first record of one answer.
struct ModelGlance: Sendable {
    fileprivate let sight: ModelSight
    fileprivate let layout: String
    fileprivate let logger: Logger?

    /// Looks at a record before it is decoded: one that lacks a field may not be one.
    ///
    /// - Parameter record: a context with the record on its tape.
    func look(at record: DecodingContext, as type: Any.Type) {
        sight.watch.look(at: { record.fieldNames }, of: layout, as: type, in: sight.tenure, logger: logger)
    }
}

extension DataAPIRequest {
    /// How to look at the answer; `nil` when nobody wants to know.
    var modelGlance: ModelGlance? {
        guard let sight = context.models, let layout = responseLayout ?? layout else { return nil }
        return ModelGlance(sight: sight, layout: layout, logger: context.logger)
    }
}

extension DecodingContext {
    /// The names of the fields of the record on the tape.
    fileprivate var fieldNames: [String] {
        guard let fields = document.names(in: 0).first(where: { $0.name == "fieldData" }) else { return [] }
        return document.names(in: fields.value).map(\.name)
    }
}

extension JSONDocument {
    /// The members of an object, with the indices of their values.
    fileprivate func names(in object: UInt32) -> [(name: String, value: UInt32)] {
        guard self[object].kind == .object else { return [] }
        var members: [(name: String, value: UInt32)] = []
        var index = object + 1
        while index < self[object].link {
            members.append((text(self[index]), index + 1))
            index = tape.end(of: index + 1)
        }
        return members
    }
}

import FMHTTP
import Logging
import NIOConcurrencyHelpers
import OpenCombine

/// Compares answers with the types that they are decoded into: the first record for each layout and type.
///
/// It refers to its database only through the states that it changes, and keeps nothing alive.
final class ModelWatch: Sendable {
    private struct LayoutAndType: Hashable {
        let layout: ExactName
        let type: ObjectIdentifier
    }

    private struct State {
        var seen: Set<LayoutAndType> = []
        var drifts: [DataAPI.ModelDrift] = []
        /// Counts the changes of the state.
        var version = 0
        /// Whether a thread is publishing changes; others leave theirs to it, so that the latest is published last.
        var isTelling = false
    }

    private let database: String
    private let keys: DecodingOptions.KeyStrategy
    private let logger: Logger?
    private let shown: PublishedState<[DataAPI.ModelDrift]>
    private let willChange: SelfGuarded<ObservableObjectPublisher>
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - keys: how the host's names are mapped to coding keys.
    ///   - logger: the configuration's logger.
    ///   - shown: the differences that the database publishes.
    init(
        _ database: String,
        keys: DecodingOptions.KeyStrategy,
        logger: Logger?,
        shown: PublishedState<[DataAPI.ModelDrift]>,
        willChange: SelfGuarded<ObservableObjectPublisher>
    ) {
        self.database = database
        self.keys = keys
        self.logger = logger
        self.shown = shown
        self.willChange = willChange
    }

    /// Compares the first record of the answer to a request.
    ///
    /// - Parameters:
    ///   - tenure: the tenure of the account that reads it.
    ///   - logger: the call's logger; `nil` for the configuration's.
    func inspection<Response>(
        of request: DataAPIRequest<Response>,
        in tenure: Tenure,
        logger: Logger?
    ) -> RecordInspection? {
        guard let layout = request.responseLayout ?? request.layout else { return nil }
        return { record, type in
            self.compare(names: { record.fieldNames }, of: layout, as: type, in: tenure, logger: logger)
        }
    }

    /// Compares the first record of an answer.
    ///
    /// - Parameters:
    ///   - names: the names of its fields; called only if this layout was not compared with this type yet.
    ///   - tenure: the tenure of the account that read it.
    ///   - logger: the call's logger; `nil` for the configuration's.
    func compare(
        names: () -> [String],
        of layout: String,
        as type: Any.Type,
        in tenure: Tenure? = nil,
        logger: Logger?
    ) {
        let pair = LayoutAndType(layout: ExactName(layout), type: ObjectIdentifier(type))
        let isNew = state.withLockedValue { state in tenure?.isOver != true && state.seen.insert(pair).inserted }
        guard isNew, let fields = ModelFields(type) else { return }
        let drift = fields.drift(from: layout, showing: names(), keys: keys)
        guard !drift.isEmpty else { return }
        (logger ?? self.logger)?.tell(drift, of: database)
        change { state in
            if tenure?.isOver != true { state.drifts.append(drift) }
        }
    }

    /// Drops everything: another account may see other fields.
    func beginAnew() {
        change { state in
            state.seen = []
            state.drifts = []
        }
    }

    private func change(_ change: (inout State) -> Void) {
        var untold = state.withLockedValue { state -> (drifts: [DataAPI.ModelDrift], version: Int)? in
            change(&state)
            state.version += 1
            if state.isTelling { return nil }
            state.isTelling = true
            return (state.drifts, state.version)
        }
        while let told = untold {
            willChange.object.send()
            shown.set(told.drifts)
            untold = state.withLockedValue { state in
                state.isTelling = state.version != told.version
                return state.isTelling ? (state.drifts, state.version) : nil
            }
        }
    }
}

extension Logger {
    /// Logs a line of names; it contains no field values.
    fileprivate func tell(_ drift: DataAPI.ModelDrift, of database: String) {
        var metadata: Logger.Metadata = [
            LogKey.database: "\(database)", LogKey.layout: "\(drift.layout)", LogKey.type: "\(drift.record)",
        ]
        if !drift.missing.isEmpty { metadata[LogKey.missing] = .array(drift.missing.map { .string($0) }) }
        if !drift.added.isEmpty { metadata[LogKey.added] = .array(drift.added.map { .string($0) }) }
        log(
            level: drift.missing.isEmpty ? .notice : .warning,
            "layout differs from its type of records",
            metadata: metadata
        )
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

import FMDataCore
import NIOCore
import OpenCombine

/// Saves a change of a record: the shell around ``SaveStateMachine``. It reads and writes with plain calls, one after
/// the other, which share the time of one call.
struct SavePublisher<R: RecordFields>: ColdPublisher {
    typealias Output = DataAPI.Saved<R>
    typealias Failure = FMRest.APIError

    /// The origin of the change.
    enum Source: Sendable {
        case draft(DataAPI.Draft<R>)
        /// A closure that changes the record as it is read.
        case update(LenientInt, @Sendable (inout DataAPI.Draft<R>) throws -> Void)
    }

    let layout: DataAPI.TypedLayout<R>
    let source: Source
    var policy = DataAPI.ConflictPolicy.fail
    var refreshes = false
    var script: DataAPI.ScriptQuery?
    /// The fields to be written, if they are not the draft's changes.
    var given: FieldSet?

    /// Used by the steps alone, which run one after the other.
    struct Memory {
        var machine: SaveStateMachine
        var draft: DataAPI.Draft<R>?
        var lastRead: DataAPI.TypedLayout<R>.Record?
        var answer: DataAPI.EditRecordResponse?
        var writeError: FMRest.APIError?
        /// The error of the last write whose outcome is unknown.
        var unknownError: FMRest.APIError?
        var readError: FMRest.APIError?
    }

    var memory: Memory { Memory(machine: machine) }

    func begin(_ subscription: ColdSubscription<Self>) { SaveSteps(self, subscription).begin() }

    fileprivate var recordId: LenientInt {
        switch source {
        case .draft(let draft): LenientInt(draft.recordId)
        case .update(let recordId, _): recordId
        }
    }

    private var machine: SaveStateMachine {
        var settings = SaveStateMachine.Settings(recordId: recordId.number)
        settings.policy = policy
        settings.refreshes = refreshes
        settings.runsScripts = script?.runsScripts == true
        if case .update = source { settings.isMadeAnew = true }
        settings.isUpsert = given != nil
        // Do not wait a second time for what the layout's own policy has given up.
        if layout.layout.database.calls.options.retryPolicy != nil { settings.retryTimeout = .zero }
        return SaveStateMachine(settings)
    }
}

/// The steps of a save, one after the other.
private struct SaveSteps<R: RecordFields> {
    private typealias Record = DataAPI.TypedLayout<R>.Record

    private let save: SavePublisher<R>
    private let layout: DataAPI.TypedLayout<R>
    private let subscription: ColdSubscription<SavePublisher<R>>

    init(_ save: SavePublisher<R>, _ subscription: ColdSubscription<SavePublisher<R>>) {
        self.save = save
        layout = DataAPI.TypedLayout(layout: save.layout.layout.forOneCall)
        self.subscription = subscription
    }

    func begin() {
        carryOn {
            switch save.source {
            case .draft(let draft): return try began(with: draft)
            case .update(let recordId, _):
                _ = try recordId.recordId()
                return subscription.memory.machine.began()
            }
        }
    }

    // MARK: Steps

    /// Carries out the action that follows an event. An error thrown by the program's own types and closures ends the
    /// save.
    private func carryOn(_ event: () throws -> SaveStateMachine.Action) {
        // The program's closures must not be called for a save that is over.
        guard subscription.isRunning else { return }
        do {
            try take(event())
        } catch {
            subscription.finish(.failure(FMRest.APIError(wrapping: error, otherwise: .encoding)))
        }
    }

    private func take(_ action: SaveStateMachine.Action) throws {
        switch action {
        case .read: try read()
        case .edit: try edit()
        case .send(let change, let modId): try send(change, modId: modId)
        case .wait(let pause):
            follow(PausePublisher(pause: pause, time: layout.server.time)) { _ in subscription.memory.machine.waited() }
        case .publish(let success): try publish(success)
        case .fail(let failure): throw error(failure)
        }
    }

    private func began(with draft: DataAPI.Draft<R>) throws -> SaveStateMachine.Action {
        subscription.memory.draft = draft
        guard let given = save.given else {
            let (base, change) = try draft.change(layout.layout.encoder)
            return subscription.memory.machine.began(base: base, change: change)
        }
        let base = try image(of: draft.base)
        let fields = given.changes(from: base.fields, keepsAbsent: true)
        return subscription.memory.machine.began(base: base, change: RecordDiff(fields: fields))
    }

    private func image(of record: Record) throws -> RecordImage {
        try RecordImage(of: record, layout.layout.encoder)
    }

    private func edit() throws {
        guard case .update(_, let change) = save.source, let lastRead = subscription.memory.lastRead else { return }
        var draft = lastRead.draft()
        do {
            try change(&draft)
        } catch {
            throw FMRest.APIError(wrapping: error, otherwise: .invalidRequest)
        }
        try take(began(with: draft))
    }

    private func read() throws {
        follow(layout.record(id: try save.recordId.recordId(), portals: try portals(), isolation: .insideACall)) {
            result in
            switch result {
            case .success(let record):
                subscription.memory.lastRead = record
                return subscription.memory.machine.found(try image(of: record))
            case .failure(let error):
                subscription.memory.readError = error
                guard error.passing != nil || error.isUnreadable else {
                    return subscription.memory.machine.readFailed(isMissing: error.fileMakerCode == .recordMissing)
                }
                let time = layout.server.time
                return subscription.memory.machine.readFailedInPassing(
                    jitter: layout.server.random(),
                    now: time.now(),
                    deadline: layout.layout.database.calls.clock?.deadline(from: time.now())
                )
            }
        }
    }

    /// The portals of a read. They are those of the default unless the draft has more rows than a server then sends;
    /// then some more rows than the draft has are requested of each portal.
    private func portals() throws -> [DataAPI.PortalRequest]? {
        guard let draft = subscription.memory.draft else { return nil }
        let mine = try RecordImage(
            fields: NoFields(),
            portals: draft.portals,
            modId: 0,
            info: nil,
            layout.layout.encoder
        )
        let counts = try (image(of: draft.base).portals + mine.portals)
            .reduce(into: [String: Int]()) { counts, portal in
                counts[portal.name] = max(counts[portal.name] ?? 0, portal.rows.count)
            }
        guard counts.values.contains(where: { $0 > DataAPI.PortalRequest.defaultLimit }) else { return nil }
        return counts.sorted { $0.key < $1.key }.map { name, count in
            DataAPI.PortalRequest(name: name, limit: count + DataAPI.PortalRequest.defaultLimit)
        }
    }

    private func send(_ change: RecordDiff, modId: Int) throws {
        let (place, script) = (layout.layout, save.script)
        let recordId = try save.recordId.recordId()
        // The fields of an upsert were named one by one, or have been compared with the layout before.
        let write = layout.knowingUnwritableFields(in: change, isGivenByField: save.given != nil) {
            (fields) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> in
            guard fields.isEmpty else { return .failing(.unwritable(fields)) }
            return place.database.perform {
                DataAPIRequest.save(change, to: recordId, of: place, modId: modId, script: script)
            }
            .eraseToAnyPublisher()
        }
        follow(write) { result in
            switch result {
            case .success(let answer):
                subscription.memory.answer = answer
                return subscription.memory.machine.sent(modId: answer.modId)
            case .failure(let error):
                subscription.memory.writeError = error
                let failure = SaveStateMachine.WriteFailure(error, runsScript: script?.runsScripts == true)
                if failure == .unknownOutcome { subscription.memory.unknownError = error }
                let time = layout.server.time
                return subscription.memory.machine.refused(
                    failure,
                    jitter: layout.server.random(),
                    now: time.now(),
                    deadline: layout.layout.database.calls.clock?.deadline(from: time.now())
                )
            }
        }
    }

    /// Awaits the one value of a publisher. The next step begins when the publisher has finished, and so has returned
    /// its session.
    private func follow<P: Publisher>(
        _ publisher: P,
        _ event: @escaping (Result<P.Output, FMRest.APIError>) throws -> SaveStateMachine.Action
    ) where P.Failure == FMRest.APIError {
        let step = ResultSubscriber<P.Output, FMRest.APIError> { result in
            carryOn { try event(result ?? .failure(.unansweredSave)) }
        }
        if subscription.proceed(with: step) { publisher.subscribe(step) }
    }

    // MARK: The end

    private func error(_ failure: SaveStateMachine.Failure) -> FMRest.APIError {
        var error: FMRest.APIError
        switch failure {
        case .asRead: error = subscription.memory.readError ?? .unansweredSave
        case .asSent: error = subscription.memory.writeError ?? .unansweredSave
        case .conflict(let conflict):
            error = FMRest.APIError(conflict, after: subscription.memory.writeError)
            if subscription.memory.unknownError != nil { error.outcomeIsUnknown = true }
        case .unknown(let doubt):
            error = subscription.memory.unknownError ?? .unansweredSave
            error.outcomeIsUnknown = true
            if let doubt { error.reason += " \(doubt.text)" }
        }
        return error
    }

    private func publish(_ success: SaveStateMachine.Success) throws {
        guard let draft = subscription.memory.draft else { throw FMRest.APIError.unansweredSave }
        var record: Record
        switch success.values {
        case .base: record = draft.base
        case .read: record = subscription.memory.lastRead ?? draft.base
        case .wanted, .unconfirmed:
            record = draft.base
            record.fieldData = draft.fields
            record.portalData = draft.portals ?? draft.base.portalData
            if success.values == .wanted, let modId = success.modId { record.modId = modId }
        }
        var result = DataAPI.WriteResult(
            success.outcome == .written ? .updated : .unchanged,
            recordId: record.recordId,
            // Others may have changed the record between the write and the read: the modId that was read last counts.
            modId: success.values == .read ? record.modId : success.modId ?? record.modId
        )
        if success.outcome == .written, let answer = subscription.memory.answer {
            result.messages = answer.messages
            result.scriptResponse = answer.scriptResponse
            result.newPortalRecordInfo = answer.newPortalRecordInfo
        }
        var saved = DataAPI.Saved<R>(record: record, result: result)
        saved.sentFields = success.sent.fieldNames
        saved.sentPortals = success.sent.portalNames
        saved.settledConflicts = subscription.memory.machine.settled
        if success.values == .unconfirmed { saved.refreshFailure = subscription.memory.readError }
        subscription.succeed(with: saved)
    }
}

extension SaveStateMachine.WriteFailure {
    /// - Parameter runsScript: whether a script runs with the write, which may close the window (112) after it.
    init(_ error: FMRest.APIError, runsScript: Bool) {
        switch error.fileMakerCode {
        case .modIdMismatch: self = .modIdMismatch
        case .recordMissing: self = .recordMissing
        case .windowMissing where runsScript: self = .unknownOutcome
        default:
            self = error.outcomeIsUnknown ? .unknownOutcome : error.passing == nil ? .other : .passing
        }
    }
}

extension FMRest.APIError {
    /// The error when a publisher that promises a value ends without one.
    fileprivate static var unansweredSave: FMRest.APIError {
        FMRest.APIError(.noValue, reason: "A step of the save ended without a value.")
    }
}

extension DataAPI.PortalRequest {
    /// How many rows a server sends of a portal without a limit.
    fileprivate static var defaultLimit: Int { 50 }
}

/// Publishes one empty value after a pause that starts with the demand, then finishes.
struct PausePublisher: ColdPublisher {
    typealias Output = Void
    typealias Failure = FMRest.APIError

    let pause: TimeAmount
    let time: SessionTime

    func begin(_ subscription: ColdSubscription<Self>) {
        let alarm = AnyCancellable(time.schedule(time.now() + pause) { subscription.succeed(with: ()) })
        // The pause has ended already, or the subscription was cancelled meanwhile.
        if !subscription.proceed(with: alarm) { alarm.cancel() }
    }
}

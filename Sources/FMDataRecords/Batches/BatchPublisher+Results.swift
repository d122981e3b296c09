import FMDataCore

// The machine's outcomes as results and errors of the library, and as outcomes of the journal.

/// What the shell of a batch remembers of a row.
struct BatchRowMemory {
    /// The last error.
    var error: FMRest.APIError?
    /// The error of the write whose outcome is unknown.
    var unknownError: FMRest.APIError?
    /// The result of the write that the host has answered.
    var result: DataAPI.WriteResult?
    /// The row as the journal knows it.
    var known: JournalState.Row?
}

extension DataAPI.WriteResult {
    init(_ outcome: BatchStateMachine.Outcome, of row: BatchRowMemory) {
        switch outcome {
        case .created(let recordId, let modId):
            self = row.result?.of(.created) ?? .created(recordId: recordId, modId: modId)
        case .edited(let recordId, let modId):
            self = row.result?.of(.updated, .unchanged) ?? .updated(recordId: recordId, modId: modId)
        case .deleted(let wasThere):
            self = row.result?.of(.deleted) ?? .deleted(wasThere: nil)
            self.wasThere = wasThere
        case .failed(let failure):
            self = .failed(FMRest.APIError(failure, last: row.error))
        case .unknown(let doubt):
            self = .unknown(.unknown(row, doubt))
        case .skipped:
            self = .skipped
        case .known:
            if case .done(let outcome) = row.known?.phase { self = Self(outcome) } else { self = .skipped }
        }
    }

    /// The result if it is of one of these kinds, else `nil`.
    private func of(_ kinds: Kind...) -> DataAPI.WriteResult? { kinds.contains(kind) ? self : nil }
}

extension JournalOutcome {
    /// The part of a result that the journal keeps; `nil` when another run may have a better one.
    init?(_ result: DataAPI.WriteResult) {
        switch result.kind {
        case .created: self.init(kind: .created, recordId: result.recordId, modId: result.modId)
        case .updated: self.init(kind: .updated, recordId: result.recordId, modId: result.modId)
        case .unchanged: self.init(kind: .unchanged, recordId: result.recordId, modId: result.modId)
        case .deleted: self.init(kind: .deleted, wasThere: result.wasThere)
        case .failed:
            guard let error = result.error, !BatchTrouble(error).mayPass else { return nil }
            self.init(
                kind: .failed,
                errorCode: error.code.description,
                fileMakerCode: error.fileMakerCode?.rawValue,
                fields: error.fields
            )
        default: return nil
        }
    }
}

extension DataAPI.WriteResult {
    /// The result that an earlier run has noted.
    init(_ outcome: JournalOutcome) {
        switch outcome.kind {
        case .created: self.init(.created, recordId: outcome.recordId, modId: outcome.modId)
        case .updated: self.init(.updated, recordId: outcome.recordId, modId: outcome.modId)
        case .unchanged: self.init(.unchanged, recordId: outcome.recordId, modId: outcome.modId)
        case .deleted: self.init(.deleted, wasThere: outcome.wasThere)
        case .failed: self = .failed(.failedInEarlierRun(outcome))
        }
    }
}

extension JournalState.Row {
    /// Whether this is the row of the operation. A failed row that is to be sent again may have been changed.
    func isOf(_ operation: BatchOperation, retriesRefused: Bool) -> Bool {
        if digest == operation.digest { return phase != .openInJob }
        switch phase {
        case .done(let outcome): return retriesRefused && outcome.kind == .failed
        case .free, .open, .openInJob: return false
        }
    }
}

extension FMRest.APIError {
    fileprivate init(_ failure: BatchStateMachine.Failure, last: FMRest.APIError?) {
        switch failure {
        case .lastError, .retryTimedOut:
            self = last ?? .noAnswer
        case .keySpelledOtherwise:
            self = .keySpelledOtherwise
        case .keyInOtherForm:
            self = .keyInOtherForm
        case .ambiguousKey:
            self.init(
                .invalidRequest,
                reason: "Several records have the row's key, so that none of them can be taken for it.",
                hint: "A field that records are looked up by has to be unique.",
                request: last?.request,
                underlying: last
            )
        case .neverArrived:
            self.init(
                .network,
                reason: "The row was sent several times, and never arrived.",
                hint:
                    "The connection breaks behind each request, or the host takes longer than BatchOptions.settlingTime.",
                request: last?.request
            )
        }
    }

    static let noAnswer = FMRest.APIError(.noValue, reason: "A call ended without an answer.")

    /// The error of a row that may have been carried out: of the write, with the reason why it could not be settled.
    fileprivate static func unknown(_ row: BatchRowMemory, _ doubt: WriteOutcome.Doubt?) -> FMRest.APIError {
        var error =
            row.unknownError
            ?? FMRest.APIError(
                .noValue,
                reason: "An earlier run may have sent the row, and it cannot be found out whether it was carried out.",
                outcomeIsUnknown: true
            )
        error.outcomeIsUnknown = true
        var why = doubt?.text
        if let failure = row.error, !failure.outcomeIsUnknown {
            why = (why ?? WriteOutcome.Doubt.unreadable.text) + " The lookup failed: \(failure.reason)"
            error.underlying = failure
        }
        if let why { error.reason += " \(why)" }
        return error
    }

    fileprivate static func failedInEarlierRun(_ outcome: JournalOutcome) -> FMRest.APIError {
        let code = outcome.fileMakerCode.map(FileMakerErrorCode.init(rawValue:))
        var error = FMRest.APIError(
            Code(named: outcome.errorCode ?? "fileMaker"),
            reason: "An earlier run was told so" + (code.map { ": \($0.summary)" } ?? "")
                + ". Nothing was sent in this one.",
            hint: "BatchOptions.retriesRefused sends such rows again, when they or the file have been put right.",
            fileMakerCode: code
        )
        error.fields = outcome.fields
        return error
    }

    /// - Parameter isOpen: whether the journal's row at this index may have been carried out.
    static func inputHasChanged(isOpen: Bool) -> FMRest.APIError {
        FMRest.APIError(
            .invalidRequest,
            reason: "The journal knows another row at this place"
                + (isOpen ? ", and nobody knows whether that one was carried out" : "") + ". Nothing was sent.",
            hint: "Resume with the same rows in the same order, or give other rows a journal of their own."
        )
    }

    static func rowHasMoved(from noted: Int, to row: Int) -> FMRest.APIError {
        FMRest.APIError(
            .invalidRequest,
            reason: "The journal has the key of row \(row) in row \(noted), which an earlier run has written, or may "
                + "have. Nothing was sent.",
            hint: "Resume with the same rows in the same order, or give other rows a journal of their own."
        )
    }

    static func superseded(by later: Int) -> FMRest.APIError {
        FMRest.APIError(
            .invalidRequest,
            reason:
                "Row \(later), which comes later, has been written into the same record in an earlier run, or may have "
                + "been, and this one would overwrite it. Nothing was sent.",
            hint: "What it says can be written with a journal of its own, if it is still to hold."
        )
    }

    static let keyInOtherForm = FMRest.APIError(
        .invalidRequest,
        reason: "A record was found by the key, and has it in another form. Nothing was written.",
        hint: "Give keys as the host has them: a date or a number can be written in several ways."
    )

    static let keySpelledOtherwise = FMRest.APIError(
        .invalidRequest,
        reason: "A record was found by the key, and has it in another spelling. Nothing was written.",
        hint:
            "FileMaker takes two keys for the same that differ in case or accents, and a file can change a key as it is "
            + "entered. Spell it as the record has it."
    )

    static func keyComesTwice(in other: Int) -> FMRest.APIError {
        FMRest.APIError(
            .invalidRequest,
            reason:
                "Row \(other) has the same key, so that one of the two would be taken for the other. Nothing was sent.",
            hint: "Each new record needs a key that no other one has."
        )
    }
}

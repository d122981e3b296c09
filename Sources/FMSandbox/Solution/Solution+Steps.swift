extension Solution {
    /// One step of a script declared in data. Values and conditions are formulas.
    ///
    /// Transactions work as in FileMaker: the changes of the steps between Open Transaction and Commit Transaction,
    /// which must be in the same list, are made as a whole or not at all.
    ///
    /// ```swift
    /// let steps: [Solution.Step] = [
    ///     .openTransaction,
    ///     .newRecord,
    ///     .set("Name", to: "Get ( ScriptParameter )"),
    ///     .revertTransaction(if: "IsEmpty ( Name )", error: 5001),
    ///     .commitTransaction,
    ///     .exit("Get ( RecordID )", error: "Get ( LastError )"),
    /// ]
    /// print(steps.count, "steps")                                 // 6 steps
    /// ```
    package struct Step: Codable, Sendable, Equatable {
        /// What a step does, and with what.
        indirect enum Kind: Sendable, Equatable {
            case set(String, to: String)
            case setFieldByName(String, to: String)
            case exit(String, error: Quantity?)
            case template(String, error: Quantity?)
            case error(Quantity)
            case loop([Step])
            case repeating([Step])
            case exitLoopIf(String)
            case branch(String, then: [Step], else: [Step])
            case performScript(String, parameter: String?)
            case openTransaction
            case commitTransaction
            case revertTransaction(if: String?, error: Quantity?)
            case setRevertTransactionOnError(Bool)
            case commitRecords
            case goToLayout(String)
            case goToListOfRecords(String)
            case constrain(String)
            case find([[String: String]])
            case omitRecord
            case showAll
            case newRecord
            case deleteRecord
            case closeWindow
            case wait(Quantity)
        }

        let kind: Kind

        init(_ kind: Kind) {
            self.kind = kind
        }
    }
}

extension Solution.Step {
    /// Sets a field of the current record, a global field, or a `$variable`:
    /// `{"set": "Name", "to": "Upper ( Name )"}`.
    package static func set(_ target: String, to formula: String) -> Self { Self(.set(target, to: formula)) }

    /// Sets a field whose name is the value of a formula: `{"setFieldByName": "$name", "to": "$value"}`.
    package static func setFieldByName(_ name: String, to formula: String) -> Self {
        Self(.setFieldByName(name, to: formula))
    }

    /// Ends the script with a result and optionally an error code: `{"exit": "Get ( ScriptParameter )"}`,
    /// `{"exit": "\"half\"", "error": 5}`. Without a code the last error is kept.
    package static func exit(_ result: String, error: Solution.Quantity? = nil) -> Self {
        Self(.exit(result, error: error))
    }

    /// Ends the script with a result that is a text with embedded formulas, and optionally an error code:
    /// `{"template": "<<Name>> is one of <<Get ( FoundCount )>>"}`.
    package static func template(_ text: String, error: Solution.Quantity? = nil) -> Self {
        Self(.template(text, error: error))
    }

    /// Ends the script with an error code: `{"error": 101}`, `{"error": "Get ( ScriptParameter )"}`. If the value
    /// is not a number, the error is -1.
    package static func error(_ code: Solution.Quantity) -> Self { Self(.error(code)) }

    /// Runs steps once per record of the found set: `{"loop": […]}`. Afterwards the last error is 101, as after
    /// FileMaker's own loop that exits after the last record.
    package static func loop(_ steps: [Self]) -> Self { Self(.loop(steps)) }

    /// Runs steps repeatedly until an ``exitLoopIf(_:)`` ends it, like a loop in FileMaker that goes to no record:
    /// `{"repeat": [{"exitLoopIf": "$i ≥ 10"}, …]}`.
    package static func repeating(_ steps: [Self]) -> Self { Self(.repeating(steps)) }

    /// Exits the innermost loop if a formula is true: `{"exitLoopIf": "$i ≥ 10"}`.
    package static func exitLoopIf(_ condition: String) -> Self { Self(.exitLoopIf(condition)) }

    /// Runs one of two lists of steps: `{"if": "Total > 5", "then": […], "else": […]}`.
    package static func branch(_ condition: String, then: [Self], else otherwise: [Self]) -> Self {
        Self(.branch(condition, then: then, else: otherwise))
    }

    /// Runs another script, optionally with a parameter: `{"performScript": "Run Row", "parameter": "$row"}`.
    /// Afterwards `Get ( ScriptResult )` is its result and `Get ( LastError )` its last error.
    package static func performScript(_ name: String, parameter: String? = nil) -> Self {
        Self(.performScript(name, parameter: parameter))
    }

    /// Opens a transaction: `{"openTransaction": true}`. The steps up to the ``commitTransaction`` in the same list
    /// are part of it. Others see the changes after the commit; until then the records are in use (301). Serial
    /// numbers are assigned at once, other auto-enter values at the commit. Records are validated when the script
    /// leaves them and at the commit. Global fields are not part of the transaction.
    ///
    /// If a script that performs this one has opened a transaction, this step is error 3, and the steps are part of
    /// that transaction.
    package static let openTransaction = Self(.openTransaction)

    /// Commits the transaction: `{"commitTransaction": true}`. If a record fails validation, all changes are
    /// reverted, and the last error is the validation's. A transaction whose script ends before the commit is
    /// reverted.
    package static let commitTransaction = Self(.commitTransaction)

    /// Reverts the transaction, whichever script opened it, and continues after its ``commitTransaction``:
    /// `{"revertTransaction": true}`, `{"revertTransaction": "Get ( LastError ) ≠ 0"}`. An error code from 5000 to
    /// 5499 becomes the last error: `{"revertTransaction": "Count > Stock", "error": 5001}`; otherwise the last
    /// error is kept. Record ids and serial numbers stay used. Error 3 if no transaction is open.
    package static func revertTransaction(if condition: String? = nil, error: Solution.Quantity? = nil) -> Self {
        Self(.revertTransaction(if: condition, error: error))
    }

    /// Sets whether errors of privileges (200 to 204) and validation (500 to 513) revert the transaction
    /// automatically, which is the default: `{"setRevertTransactionOnError": false}`.
    package static func setRevertTransactionOnError(_ isOn: Bool) -> Self { Self(.setRevertTransactionOnError(isOn)) }

    /// Validates the current record of a transaction: `{"commitRecords": true}`. Outside a transaction every step
    /// is a commit.
    package static let commitRecords = Self(.commitRecords)

    /// Goes to the layout of that name: `{"goToLayout": "Zones"}`. The name may contain formulas:
    /// `{"goToLayout": "<<$layout>>"}`.
    package static func goToLayout(_ name: String) -> Self { Self(.goToLayout(name)) }

    /// Finds the records with the ids in the value of a formula, one per line or as a JSON array:
    /// `{"goToListOfRecords": "$ids"}`. Error 101 if none of them exists.
    package static func goToListOfRecords(_ list: String) -> Self { Self(.goToListOfRecords(list)) }

    /// Keeps the records of the found set for which a formula is true: `{"constrain": "Population > 1000"}`.
    package static func constrain(_ condition: String) -> Self { Self(.constrain(condition)) }

    /// Finds records, with requests like those of `_find`:
    /// `{"find": [{"City": "=<<$city>>"}, {"Status": "lost", "omit": "true"}]}`. Criteria are texts with embedded
    /// formulas. Fields are related to the layout's table and need not be on the layout. If nothing is found, the
    /// found set is empty and the error is 401.
    package static func find(_ requests: [[String: String]]) -> Self { Self(.find(requests)) }

    /// Removes the current record from the found set: `{"omitRecord": true}`.
    package static let omitRecord = Self(.omitRecord)

    /// Finds all records: `{"showAll": true}`.
    package static let showAll = Self(.showAll)

    /// Creates a record and makes it the current record: `{"newRecord": true}`.
    package static let newRecord = Self(.newRecord)

    /// Deletes the current record: `{"deleteRecord": true}`.
    package static let deleteRecord = Self(.deleteRecord)

    /// Commits the open transaction and closes the session's window: `{"closeWindow": true}`. Later requests of the
    /// session that need a layout are error 112; the client must log in again.
    package static let closeWindow = Self(.closeWindow)

    /// Waits for a number of seconds on the sandbox's clock: `{"wait": 0.5}`,
    /// `{"wait": "Get ( ScriptParameter )"}`. A negative value or one that is not a number does not wait; the
    /// maximum is a day.
    package static func wait(_ seconds: Solution.Quantity) -> Self { Self(.wait(seconds)) }
}

extension Solution.Step {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case set, setFieldByName, to, exit, template, error, loop, `repeat`, exitLoopIf, `if`, then, `else`
        case performScript, parameter, openTransaction, commitTransaction, revertTransaction
        case setRevertTransactionOnError, commitRecords, goToLayout, goToListOfRecords, constrain, showAll, newRecord
        case find, omitRecord, deleteRecord, closeWindow, wait

        /// The keys that may be next to the key of a step; nil if the key names no step.
        var companions: Set<CodingKeys>? {
            switch self {
            case .set, .setFieldByName: [.to]
            case .if: [.then, .else]
            case .exit, .template, .revertTransaction: [.error]
            case .performScript: [.parameter]
            case .error, .loop, .repeat, .exitLoopIf, .openTransaction, .commitTransaction,
                .setRevertTransactionOnError, .commitRecords, .goToLayout, .goToListOfRecords, .constrain, .find,
                .omitRecord, .showAll, .newRecord, .deleteRecord, .closeWindow, .wait:
                []
            case .to, .then, .else, .parameter: nil
            }
        }
    }

    /// The steps that consist of their key with the value `true`.
    private static let plain: [(key: CodingKeys, step: Self)] = [
        (.openTransaction, .openTransaction), (.commitTransaction, .commitTransaction),
        (.commitRecords, .commitRecords), (.omitRecord, .omitRecord), (.closeWindow, .closeWindow),
        (.showAll, .showAll), (.newRecord, .newRecord),
        (.deleteRecord, .deleteRecord),
    ]

    /// Reads the format that each case documents. Keys of two steps in one object are an error.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        let keys = Set(container.allKeys)
        guard keys.isEmpty || keys.contains(where: { $0.companions?.union([$0]).isSuperset(of: keys) ?? false })
        else {
            let names = keys.map(\.stringValue).sorted().joined(separator: ", ")
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not the keys of one script step: \(names)")
            )
        }
        for (key, step) in Self.plain where try container.decode(Bool.self, forKey: key, default: false) {
            self = step
            return
        }
        func text(_ key: CodingKeys) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
        func steps(_ key: CodingKeys) throws -> [Self]? { try container.decodeIfPresent([Self].self, forKey: key) }
        func error() throws -> Solution.Quantity? {
            try container.decodeIfPresent(Solution.Quantity.self, forKey: .error)
        }
        if let target = try text(.set) {
            self = .set(target, to: try container.decode(String.self, forKey: .to))
        } else if let name = try text(.setFieldByName) {
            self = .setFieldByName(name, to: try container.decode(String.self, forKey: .to))
        } else if let result = try text(.exit) {
            self = .exit(result, error: try error())
        } else if let text = try text(.template) {
            self = .template(text, error: try error())
        } else if container.contains(.revertTransaction) {
            let isPlain = try? container.decode(Bool.self, forKey: .revertTransaction)
            guard isPlain != false else { throw Self.noStep(decoder) }
            let condition = isPlain == true ? nil : try container.decode(String.self, forKey: .revertTransaction)
            self = .revertTransaction(if: condition, error: try error())
        } else if let code = try error() {
            self = .error(code)
        } else if let steps = try steps(.loop) {
            self = .loop(steps)
        } else if let steps = try steps(.repeat) {
            self = .repeating(steps)
        } else if let condition = try text(.exitLoopIf) {
            self = .exitLoopIf(condition)
        } else if let condition = try text(.if) {
            self = .branch(condition, then: try steps(.then) ?? [], else: try steps(.else) ?? [])
        } else if let script = try text(.performScript) {
            self = .performScript(script, parameter: try text(.parameter))
        } else if let isOn = try container.decodeIfPresent(Bool.self, forKey: .setRevertTransactionOnError) {
            self = .setRevertTransactionOnError(isOn)
        } else if let layout = try text(.goToLayout) {
            self = .goToLayout(layout)
        } else if let list = try text(.goToListOfRecords) {
            self = .goToListOfRecords(list)
        } else if let condition = try text(.constrain) {
            self = .constrain(condition)
        } else if let requests = try container.decodeIfPresent([[String: String]].self, forKey: .find) {
            self = .find(requests)
        } else if let seconds = try container.decodeIfPresent(Solution.Quantity.self, forKey: .wait) {
            self = .wait(seconds)
        } else {
            throw Self.noStep(decoder)
        }
    }

    private static func noStep(_ decoder: any Decoder) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not a script step"))
    }

    /// Writes the format that ``init(from:)`` reads.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if let plain = Self.plain.first(where: { $0.step == self }) {
            return try container.encode(true, forKey: plain.key)
        }
        switch kind {
        case .set(let target, let value):
            try container.encode(target, forKey: .set)
            try container.encode(value, forKey: .to)
        case .setFieldByName(let name, let value):
            try container.encode(name, forKey: .setFieldByName)
            try container.encode(value, forKey: .to)
        case .exit(let result, let error):
            try container.encode(result, forKey: .exit)
            try container.encodeIfPresent(error, forKey: .error)
        case .template(let text, let error):
            try container.encode(text, forKey: .template)
            try container.encodeIfPresent(error, forKey: .error)
        case .error(let code): try container.encode(code, forKey: .error)
        case .loop(let steps): try container.encode(steps, forKey: .loop)
        case .repeating(let steps): try container.encode(steps, forKey: .repeat)
        case .exitLoopIf(let condition): try container.encode(condition, forKey: .exitLoopIf)
        case .branch(let condition, let then, let otherwise):
            try container.encode(condition, forKey: .if)
            try container.encode(then, forKey: .then)
            try container.encode(otherwise, forKey: .else)
        case .performScript(let name, let parameter):
            try container.encode(name, forKey: .performScript)
            try container.encodeIfPresent(parameter, forKey: .parameter)
        case .revertTransaction(let condition, let error):
            if let condition {
                try container.encode(condition, forKey: .revertTransaction)
            } else {
                try container.encode(true, forKey: .revertTransaction)
            }
            try container.encodeIfPresent(error, forKey: .error)
        case .setRevertTransactionOnError(let isOn): try container.encode(isOn, forKey: .setRevertTransactionOnError)
        case .goToLayout(let name): try container.encode(name, forKey: .goToLayout)
        case .goToListOfRecords(let list): try container.encode(list, forKey: .goToListOfRecords)
        case .constrain(let condition): try container.encode(condition, forKey: .constrain)
        case .find(let requests): try container.encode(requests, forKey: .find)
        case .wait(let seconds): try container.encode(seconds, forKey: .wait)
        case .openTransaction, .commitTransaction, .commitRecords, .omitRecord, .closeWindow, .showAll, .newRecord,
            .deleteRecord:
            preconditionFailure("a plain step is written above")
        }
    }
}

extension DataAPI {
    /// What became of one row of a batch.
    public struct BatchRow: Sendable {
        /// The row's place in the input, counted from 0.
        public var index: Int
        /// What the row is known by: the value of its key field, or the id of its record. `nil` for a record that is made
        /// without a key.
        public var key: String?
        /// What became of it.
        public var outcome: Outcome

        /// A value of your own making, for tests and doubles; see the properties for its parts.
        public init(index: Int, key: String? = nil, outcome: Outcome) {
            self.index = index
            self.key = key
            self.outcome = outcome
        }

        /// What can become of a row.
        public enum Outcome: Sendable {
            /// There is a new record. The modId is `nil` where the server leaves it out.
            case created(recordId: Int, modId: Int?)
            /// The record holds what the row said, and has this modId.
            case edited(recordId: Int?, modId: Int)
            /// The record is gone. `wasThere` is `false` when it had been before, `nil` when nobody can say: an earlier attempt,
            /// whose answer was lost, may have been the one that deleted it.
            case deleted(wasThere: Bool?)
            /// The server did not carry it out, or somebody else's change stands in the way.
            case failed(FMRest.APIError)
            /// The server may have carried it out, and nobody can find out whether: the row was not sent again. The error is
            /// that of the attempt.
            case unknown(FMRest.APIError)
            /// It was not sent, since the batch had come to an end before.
            case skipped
        }
    }
}

extension DataAPI.BatchRow {
    /// Whether the server has what the row said.
    public var isDone: Bool {
        switch outcome {
        case .created, .edited, .deleted: true
        case .failed, .unknown, .skipped: false
        }
    }

    /// The record that was created or edited, as far as it is known.
    public var recordId: Int? {
        switch outcome {
        case .created(let recordId, _): recordId
        case .edited(let recordId, _): recordId
        case .deleted, .failed, .unknown, .skipped: nil
        }
    }

    /// Why it failed, or why nobody knows.
    public var error: FMRest.APIError? {
        switch outcome {
        case .failed(let error), .unknown(let error): error
        case .created, .edited, .deleted, .skipped: nil
        }
    }
}

extension DataAPI.BatchRow: CustomStringConvertible, CustomReflectable {
    /// Place and outcome, in a few words that hold no field value: the key is left out.
    public var description: String { "row \(index): \(outcome)" }

    /// What a dump may show: no field value.
    public var customMirror: Mirror { Mirror(self, children: ["index": index, "outcome": outcome]) }
}

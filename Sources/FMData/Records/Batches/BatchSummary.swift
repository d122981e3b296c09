public import OpenCombine

extension DataAPI {
    /// What a batch came to: how many rows had which outcome, which did not succeed and why, and enough for another run to go on.
    ///
    /// It is `Codable`, for a program that wants to go on another day, and can be kept while a batch runs:
    ///
    ///     batch.sink(receiveCompletion: { … }, receiveValue: { row in
    ///         summary.add(row)
    ///         if row.index % 1_000 == 0 { try? JSONEncoder().encode(summary).write(to: file) }
    ///     })
    ///
    /// It holds no secret and no value of a field but the keys of rows that did not succeed. Which rows are in which state is kept
    /// of all of them; what is told of single ones is bounded by ``maximumProblems``.
    public struct BatchSummary: Codable, Hashable, Sendable {
        /// How many records were made.
        public private(set) var createdCount = 0
        /// How many records were edited.
        public private(set) var editedCount = 0
        /// How many records were deleted, or were gone before.
        public private(set) var deletedCount = 0
        /// How many rows failed.
        public private(set) var failedCount = 0
        /// Of how many rows nobody knows whether the server has carried them out.
        public private(set) var unknownCount = 0
        /// How many rows were not sent, since the batch had come to an end before.
        public private(set) var skippedCount = 0
        /// Rows that failed or whose outcome is unknown: the first ``maximumProblems`` of them, in the order in which they ended.
        public private(set) var problems: [Problem] = []
        /// How many such rows there are beyond those in ``problems``.
        public private(set) var omittedProblemCount = 0
        /// How many rows ``problems`` may hold. The default is 1,000. Of an unknown row beyond them the key is lost that the batch
        /// had made for it.
        public var maximumProblems = 1_000
        /// Why the batch ended before its input, if it did.
        public var stop: Problem.Cause?

        private var done = RowRanges()
        private var refused = RowRanges()
        private var retryable = RowRanges()
        private var unknown = RowRanges()
        private var skipped = RowRanges()

        /// Nothing yet.
        public init() {}

        /// A row that did not succeed.
        public struct Problem: Codable, Hashable, Sendable {
            /// The row's place in the input, counted from 0.
            public var index: Int
            /// What the row is known by; see ``DataAPI/BatchRow/key``.
            public var key: String?
            /// Whether the server may have carried it out.
            public var isUnknown: Bool
            /// Why.
            public var cause: Cause

            /// An error as it can be kept.
            public struct Cause: Codable, Hashable, Sendable {
                /// The kind of failure, as ``FMRest/APIError/code`` names it.
                public var code: String
                /// FileMaker's code, where there is one.
                public var fileMakerCode: Int?
                /// The fields that it is about, as far as they are known.
                public var fields: [String]
                /// The error's description, which holds no secret and no value of a field.
                public var text: String
                /// Whether the same may succeed later without any change.
                public var isRetryable: Bool

                init(_ error: FMRest.APIError) {
                    code = error.code.description
                    fileMakerCode = error.fileMakerCode?.rawValue
                    fields = error.fields
                    text = error.description
                    isRetryable = BatchTrouble(error).mayPass
                }
            }
        }
    }
}

extension DataAPI.BatchSummary {
    /// How many rows the server has carried out.
    public var doneCount: Int { createdCount + editedCount + deletedCount }

    /// How many rows it knows of.
    public var rowCount: Int { doneCount + failedCount + unknownCount + skippedCount }

    /// Whether every row of the input was carried out.
    public var isComplete: Bool { stop == nil && doneCount == rowCount }

    /// Counts a row. One that has been counted before, by an earlier run, is counted anew.
    public mutating func add(_ row: DataAPI.BatchRow) {
        forget(row.index)
        switch row.outcome {
        case .created: createdCount += 1
        case .edited: editedCount += 1
        case .deleted: deletedCount += 1
        case .failed(let error): add(error, of: row, isUnknown: false)
        case .unknown(let error): add(error, of: row, isUnknown: true)
        case .skipped:
            skippedCount += 1
            skipped.insert(row.index)
        }
        if row.isDone { done.insert(row.index) }
    }

    private mutating func add(_ error: FMRest.APIError, of row: DataAPI.BatchRow, isUnknown: Bool) {
        let cause = Problem.Cause(error)
        if isUnknown {
            unknownCount += 1
            unknown.insert(row.index)
        } else {
            failedCount += 1
            if cause.isRetryable { retryable.insert(row.index) } else { refused.insert(row.index) }
        }
        if problems.count < maximumProblems {
            problems.append(Problem(index: row.index, key: row.key, isUnknown: isUnknown, cause: cause))
        } else {
            omittedProblemCount += 1
        }
    }

    /// Takes out what an earlier run said of a row that did not succeed. One that was done is not sent again.
    private mutating func forget(_ index: Int) {
        switch state(of: index) {
        case .refused, .retryable: failedCount -= 1
        case .unknown: unknownCount -= 1
        case .skipped:
            skippedCount -= 1
            skipped.remove(index)
            return
        case .done, nil: return
        }
        refused.remove(index)
        retryable.remove(index)
        unknown.remove(index)
        if let place = problems.firstIndex(where: { $0.index == index }) {
            problems.remove(at: place)
        } else {
            omittedProblemCount -= 1
        }
    }
}

extension DataAPI.BatchSummary {
    /// What is known of a row.
    enum State: Equatable {
        case done
        /// It failed, and would again.
        case refused
        case retryable
        case unknown
        case skipped
    }

    /// `nil` when it was never heard of.
    func state(of index: Int) -> State? {
        if done.contains(index) { return .done }
        if refused.contains(index) { return .refused }
        if retryable.contains(index) { return .retryable }
        if unknown.contains(index) { return .unknown }
        return skipped.contains(index) ? .skipped : nil
    }

    func problem(of index: Int) -> Problem? { problems.first { $0.index == index } }
}

extension DataAPI.BatchSummary: CustomStringConvertible, CustomReflectable {
    /// The counts.
    public var description: String {
        "\(createdCount) created, \(editedCount) edited, \(deletedCount) deleted, \(failedCount) failed, "
            + "\(unknownCount) unknown, \(skippedCount) skipped" + (stop == nil ? "" : ", stopped")
    }

    /// What a dump may show: no key.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["counts": description, "causes": problems.map(\.cause.text), "stop": stop?.text as Any]
        )
    }
}

extension Publisher where Output == DataAPI.BatchRow, Failure == FMRest.APIError {
    /// What the rows come to, for those who want to see them as they pass:
    ///
    ///     batch.handleEvents(receiveOutput: { print($0) }).summarized()
    ///
    /// Publishes one value when the batch has ended, then finishes; never fails: what stopped the batch is in
    /// ``DataAPI/BatchSummary/stop``. Nothing happens before demand, and then as fast as it goes; cancelling cancels the batch.
    ///
    /// - Parameter earlier: what an earlier run came to, if this one resumes it.
    public func summarized(
        after earlier: DataAPI.BatchSummary = DataAPI.BatchSummary()
    ) -> AnyPublisher<DataAPI.BatchSummary, FMRest.APIError> {
        OnDemandPublisher {
            var start = earlier
            start.stop = nil
            return self.map(BatchEvent.row)
                .afterFailure { error, _ in Just(BatchEvent.stop(error)).setFailureType(to: FMRest.APIError.self) }
                .reduce(start) { summary, event in
                    var summary = summary
                    switch event {
                    case .row(let row): summary.add(row)
                    case .stop(let error): summary.stop = .init(error)
                    }
                    return summary
                }
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }
}

private enum BatchEvent {
    case row(DataAPI.BatchRow)
    case stop(FMRest.APIError)
}

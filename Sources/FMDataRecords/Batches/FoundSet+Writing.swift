public import FMDataCore
import OpenCombine

/// Writes to all records of a found set. Each call makes a batch with one row per record: ``DataAPI/Batch``.
///
/// Before the first write the host is asked for the number of records and then for their ids, page by page. If these
/// differ from what was expected, the batch fails with ``FMRest/APIError/Code/countDiffers``, and nothing is written.
/// So 16 bytes are held per record, and records that enter the found set later are not written to.
///
/// With a journal the list of the records is noted before the first write. A run that resumes another one writes to
/// these records, of which the host may find fewer by now; it finds and compares nothing. A journal of another find, or
/// of other fields, makes it fail with ``DataAPI/WriteJournalError/Reason/foreign``.
extension DataAPI.FoundSet {
    /// Deletes the records.
    ///
    /// ```swift
    /// let leavers = people.find { $0(.city) == "Nowhere" }
    /// let plan = try await leavers.deleteAll(.atMost(10), dryRun: true).summary.firstValue()
    /// print(plan.skippedCount)                                    // 0
    /// let summary = try await leavers.deleteAll(.exactly(0)).summary.firstValue()
    /// print(summary.deletedCount)                                 // 0
    /// ```
    ///
    /// Publishes one ``DataAPI/BatchRow`` per record: ``DataAPI/WriteResult/Kind/deleted`` on success, including for a
    /// record that another client has deleted meanwhile. FileMaker deletes a record whatever its version is: a record
    /// that another client changes between the find and the delete is deleted as well.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    /// - Parameters:
    ///   - expected: how many records there must be.
    ///   - dryRun: whether to write nothing: each record has a row with its id that is
    ///     ``DataAPI/WriteResult/Kind/skipped``.
    ///   - journal: records which records were found, and what is sent. A run that resumes another one needs the same
    ///     find; a dry run leaves the journal alone.
    ///   - options: how the rows are written.
    ///   - isolation: the actor on which values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Perform a find request" and "Delete a record".
    public func deleteAll(
        _ expected: DataAPI.ExpectedCount,
        dryRun: Bool = false,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch {
        writing(expected, dryRun, journal, options, isolation, "deleteAll", FieldData()) { .delete($0.recordId) }
    }

    /// Changes the same fields of all the records.
    ///
    ///     people.find { $0(.city) == "Peking" }.editAll(setting: ["City": "Beijing"], .exactly(12))
    ///
    /// Publishes one ``DataAPI/BatchRow`` per record, ``DataAPI/WriteResult/Kind/updated`` on success. Each edit is
    /// based on the version that was found: a record that another client changes meanwhile is not written to, and its
    /// row fails with 306.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    /// - Parameters:
    ///   - fields: the fields to change, with their new values.
    ///   - expected: how many records there must be.
    ///   - dryRun: whether to write nothing: each record has a row with its id that is
    ///     ``DataAPI/WriteResult/Kind/skipped``.
    ///   - journal: records which records were found, and what is sent. A run that resumes another one needs the same
    ///     find; a dry run leaves the journal alone.
    ///   - options: how the rows are written.
    ///   - isolation: the actor on which values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Perform a find request" and "Edit a record".
    public func editAll(
        setting fields: FieldData,
        _ expected: DataAPI.ExpectedCount,
        dryRun: Bool = false,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch {
        writing(expected, dryRun, journal, options, isolation, "editAll", fields) {
            .edit($0.recordId, setting: fields, modId: $0.modId)
        }
    }

    /// Changes the fields that are set in `changes`, in all the records.
    ///
    ///     people.find { $0(.city) == "Peking" }.editAll(setting: Person.Changes(city: "Beijing"), .exactly(12))
    ///
    /// The same as with fields by name.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    public func editAll<Changes: RecordChanges>(
        setting changes: Changes,
        _ expected: DataAPI.ExpectedCount,
        dryRun: Bool = false,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch where Changes.Record == R {
        writing(expected, dryRun, journal, options, isolation, "editAll", changes) {
            .edit($0.recordId, setting: changes, modId: $0.modId)
        }
    }

    private func writing(
        _ expected: DataAPI.ExpectedCount,
        _ isDryRun: Bool,
        _ journal: DataAPI.WriteJournal?,
        _ options: DataAPI.BatchOptions,
        _ isolation: (any Actor)?,
        _ name: String,
        _ fields: any Encodable & Sendable,
        _ write: @escaping (WrittenVersion) -> DataAPI.RecordWrite<R>
    ) -> DataAPI.Batch {
        if isDryRun {
            return DataAPI.Batch(
                versions(expected)
                    .scan((index: -1, version: WrittenVersion(recordId: 0, modId: 0))) { ($0.index + 1, $1) }
                    .map { index, version in
                        var result = DataAPI.WriteResult.skipped
                        result.recordId = version.recordId
                        result.modId = version.modId
                        return DataAPI.BatchRow(index: index, key: "\(version.recordId)", result: result)
                    }
                    .eraseToAnyPublisher(),
                server: layout.server,
                isolation: isolation
            )
        }
        let rows = { (journal: OpenJournal?) in
            guard let journal else { return versions(expected).map(write) }
            return versions(expected, notedIn: journal) { salt in
                RowDigest(
                    salt: salt,
                    write: "\(name) \(try findInJSON())",
                    fields: try layout.digestedMembers(of: fields)
                )
            }
            .map(write)
        }
        return DataAPI.Batch(of: rows, in: layout, journal: journal, options, isolation: isolation)
    }

    /// The records as the journal has them from an earlier run, or as they are found, published once they are noted.
    ///
    /// - Parameter digest: returns the digest of what is done to which records.
    private func versions(
        _ expected: DataAPI.ExpectedCount,
        notedIn journal: OpenJournal,
        digest: (_ salt: [UInt8]) throws -> RowDigest
    ) -> AnyPublisher<WrittenVersion, FMRest.APIError> {
        let state = journal.state
        do {
            let digest = try digest(state.header.salt)
            guard state.list.map({ $0.digest == digest }) ?? state.rows.isEmpty else {
                throw DataAPI.WriteJournalError(.foreign, detail: "another find, or other fields")
            }
            if let list = state.list {
                return list.records.publisher.setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
            }
            return versions(expected).collect()
                .orderedMap(concurrency: 1) { records in
                    NotingPublisher(
                        entry: .list(digest, records),
                        writer: journal.writer,
                        time: layout.server.time
                    )
                    .map { records }
                    .eraseToAnyPublisher()
                }
                .eraseToAnyPublisher()
        } catch {
            return .failing(FMRest.APIError(wrapping: error, otherwise: .encoding))
        }
    }

    /// The find requests, for a digest.
    private func findInJSON() throws(DataAPI.FindError) -> String {
        var requests: [FindRequest] = []
        do throws(DataAPI.FindError) {
            guard let find else { return "all" }
            requests = try find.requests()
        } catch {
            switch error.code {
            case .matchesEverything: return "all"
            case .matchesNothing: break
            default: throw error
            }
        }
        return String(decoding: WireValue.array(requests.map { .object($0.dictionary) }).json, as: UTF8.self)
    }

    /// The records as they are found, published once all of them are known and their number is as expected.
    private func versions(_ expected: DataAPI.ExpectedCount) -> AnyPublisher<WrittenVersion, FMRest.APIError> {
        let found = unsorted.of(NoFields.self).callOptions { $0.cacheTime = nil }
        return found.count(isolation: .insideACall)
            .orderedMap(concurrency: 1) { count -> AnyPublisher<[WrittenVersion], FMRest.APIError> in
                guard expected.allows(count) else { return .failing(.countDiffers(expected, found: count)) }
                return found.all(isolation: .insideACall)
                    .map { WrittenVersion(recordId: $0.recordId, modId: $0.modId) }
                    .collect()
                    .tryMap { versions in
                        let listed = Set(versions.map(\.recordId)).count
                        guard listed == count else { throw FMRest.APIError.countChanged(from: count, to: listed) }
                        return versions
                    }
                    .mapError(FMRest.APIError.init(wrapping:))
                    .eraseToAnyPublisher()
            }
            .eraseToAnyPublisher()
    }
}

extension DataAPI {
    /// How many records a write to a whole found set may change.
    ///
    /// A find that finds more than intended is an expensive mistake: so the number is given beforehand and compared
    /// with the host's count before anything is written.
    public struct ExpectedCount: Hashable, Sendable {
        private let range: ClosedRange<Int>

        /// Exactly this many records.
        public static func exactly(_ count: Int) -> ExpectedCount {
            ExpectedCount(range: max(0, count)...max(0, count))
        }

        /// This many records at most, including none.
        public static func atMost(_ count: Int) -> ExpectedCount { ExpectedCount(range: 0...max(0, count)) }
    }
}

extension DataAPI.ExpectedCount: CustomStringConvertible {
    /// The number in words.
    public var description: String {
        range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "at most \(range.upperBound)"
    }

    func allows(_ count: Int) -> Bool { range.contains(count) }
}

extension FMRest.APIError {
    static func countDiffers(_ expected: DataAPI.ExpectedCount, found count: Int) -> FMRest.APIError {
        FMRest.APIError(
            .countDiffers,
            reason:
                "The host finds \(count) record\(count == 1 ? "" : "s"), and \(expected) were expected. Nothing was written.",
            hint: "Look at the find; a dry run tells which records are meant."
        )
    }

    static func countChanged(from counted: Int, to listed: Int) -> FMRest.APIError {
        FMRest.APIError(
            .countDiffers,
            reason: "\(counted) records were counted, and then \(listed) were listed: others change the found set. "
                + "Nothing was written."
        )
    }
}

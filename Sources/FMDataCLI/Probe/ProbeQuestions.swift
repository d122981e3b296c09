import FMData
import OpenCombine

extension ProbeQuestion {
    private typealias Records = DataAPI.RecordResponse<FieldData, DataAPI.EmptyPortal>

    /// All questions.
    ///
    /// These questions are open too, but not asked, because they need more than an account of one file, do harm, or
    /// cannot be sent by this client:
    ///
    /// - limits and offsets that are zero, negative or texts: the client refuses them before it sends anything;
    /// - bodies that are not JSON, `omit` as a boolean, an edit without `fieldData`, calls without a token, unknown
    ///   paths and methods: the client sends none of them;
    /// - whether `validateSession` renews the 15 minutes: it takes too long;
    /// - how many sessions a host accepts, and its error for the next one: other users would be locked out;
    /// - an account without `fmrest`, a file of a data source without the account: few hosts have such accounts;
    /// - the keys of portal rows in edits, and their `newPortalRecordInfo`: a scratch layout has no portal, or one
    ///   whose rows belong to other users;
    /// - uploads without content or name, and the largest: they would stay in a container of the user's file;
    /// - how long the URL of a container is valid, limits on data transfer, simultaneous calls with one token: they
    ///   need hours or luck.
    static let all = reads + writes

    // MARK: Questions that only read

    static let reads: [ProbeQuestion] = [
        ProbeQuestion(
            name: "find-past-end",
            text: "a find whose offset lies behind the last record",
            assumed: "error 401, HTTP 500"
        ) { subject in
            let filled = try await subject.filled(
                subject.fields(.text) + subject.fields(.number) + subject.fields(.date)
            )
            let query = FindQuery(
                query: [[filled.field: "*"]],
                offset: ProbeSubject.offset(behind: filled.info),
                limit: 1,
                portal: [],
                noMatch: .failure
            )
            return told(await records(subject.layout.findRecords(query: query))) { "a page of \($0.data.count)" }
        },
        ProbeQuestion(
            name: "range-past-end",
            text: "a range of records whose offset lies behind the last one",
            assumed: "error 101, HTTP 500"
        ) { subject in
            let first = try await records(subject.layout.getRecords(recordQuery: RecordQuery(portal: [], limit: 1)))
                .get()
            let offset = ProbeSubject.offset(behind: first.dataInfo)
            let query = RecordQuery(portal: [], offset: offset, limit: 1)
            return told(await records(subject.layout.getRecords(recordQuery: query))) { "a page of \($0.data.count)" }
        },
        ProbeQuestion(
            name: "record-missing",
            text: "a record that does not exist",
            assumed: "error 101, HTTP 500"
        ) { subject in
            told(await records(subject.layout.record(id: ProbeSubject.largestID)))
        },
        ProbeQuestion(
            name: "empty-table",
            text: "a range of records of a table that has none",
            assumed: "a page of 0"
        ) { subject in
            guard let empty = subject.empty else { throw NotAsked(reason: "no layout without records was met") }
            return told(await records(empty.getRecords(recordQuery: RecordQuery(portal: [])))) {
                "a page of \($0.data.count)"
            }
        },
        ProbeQuestion(
            name: "layout-missing",
            text: "a layout that does not exist",
            assumed: "error 105, HTTP 500"
        ) { subject in
            told(await subject.database.addLayout(ProbeSubject.nobodysName).getLayoutMetadata().awaitSingleResult())
        },
        ProbeQuestion(
            name: "layout-name-case",
            text: "the name of a layout in another case",
            assumed: "error 105, HTTP 500"
        ) { subject in
            guard let name = inOtherCase(subject.layout.name) else {
                throw NotAsked(reason: "the layout's name has no letters in two cases")
            }
            return told(await subject.database.addLayout(name).getLayoutMetadata().awaitSingleResult())
        },
        ProbeQuestion(
            name: "field-name-case",
            text: "the name of a field in another case, as a criterion",
            assumed: "error 102, HTTP 500"
        ) { subject in
            guard let name = inOtherCase(try await subject.filledField()) else {
                throw NotAsked(reason: "the field's name has no letters in two cases")
            }
            let query = FindQuery(query: [[name: "*"]], limit: 1, portal: [], noMatch: .failure)
            return told(await records(subject.layout.findRecords(query: query)))
        },
        ProbeQuestion(
            name: "script-missing",
            text: "a script that does not exist",
            assumed: "error 104, HTTP 500"
        ) { subject in
            told(await subject.layout.runScript(ProbeSubject.nobodysName).awaitSingleResult())
        },
        ProbeQuestion(
            name: "database-missing",
            text: "a login to a database that does not exist, with the account of this one",
            assumed: "error 802, HTTP 500"
        ) { subject in
            told(await subject.missing.getScriptNames().awaitSingleResult())
        },
        ProbeQuestion(
            name: "global-criterion",
            text: "a global field as a criterion",
            assumed: "error 408, HTTP 500"
        ) { subject in
            guard let field = subject.fields(.text, isGlobal: true).first else {
                throw NotAsked(reason: "the layout shows no global text field")
            }
            return told(await find([[field: "x"]], in: subject.layout))
        },
        unreadable("date", .date, "error 500, HTTP 500"),
        unreadable("timestamp", .timeStamp, "error 500, HTTP 500"),
        unreadable("time", .time, "error 501, HTTP 500"),
        unreadable("number", .number, "error 502, HTTP 500"),
        ProbeQuestion(
            name: "response-layout",
            text: "the layout that `dataInfo` names when `layout.response` is given",
            assumed: "the response layout"
        ) { subject in
            guard let sibling = subject.siblings.first else {
                throw NotAsked(reason: "no other layout of the same table is told")
            }
            let query = RecordQuery(layoutResponse: sibling.name, portal: [], limit: 1)
            return told(await records(subject.layout.getRecords(recordQuery: query))) { response in
                switch response.dataInfo.layout {
                case sibling.name: "the response layout"
                case subject.layout.name: "the layout of the request"
                default: "neither"
                }
            }
        },
        ProbeQuestion(
            name: "iso-timestamp",
            text: "what stands between day and time of a timestamp in ISO 8601",
            assumed: "T"
        ) { subject in
            let value = try await subject.filled(subject.fields(.timeStamp), in: subject.iso).value
            let separator = value.dropFirst("2026-01-31".count).first
            return separator == "T" ? "T" : separator == " " ? "a space" : "neither T nor a space"
        },
        ProbeQuestion(
            name: "iso-criterion",
            text: "which dates are understood as criteria when dates travel in ISO 8601",
            assumed: "US and ISO 8601"
        ) { subject in
            let american = try await subject.filled(subject.fields(.date))
            let iso = try await subject.filled([american.field], in: subject.iso)
            var understood: [String] = []
            for (name, value) in [("US", american.value), ("ISO 8601", iso.value)] {
                let found = await find([[american.field: "==\(value)"]], in: subject.iso)
                if case .success(let response) = found, !response.data.isEmpty { understood.append(name) }
            }
            return understood.isEmpty ? "neither" : understood.joined(separator: " and ")
        },
        ProbeQuestion(
            name: "portal-field-names",
            text: "how the fields of a portal's rows are named",
            assumed: "with their table"
        ) { subject in
            let query = RecordQuery(limit: 1)
            let answer: DataAPI.RecordResponse<FieldData, [String: [FieldData]]> =
                try await subject.layout.getRecords(recordQuery: query).firstValue()
            let names = answer.data.first?.portalData?.values.compactMap(\.first).flatMap(\.names)
                .filter { !["recordId", "modId"].contains($0) }
            guard let names, !names.isEmpty else { throw NotAsked(reason: "the first record has no row in a portal") }
            let qualified = names.count { $0.contains("::") }
            return qualified == names.count
                ? "with their table" : qualified == 0 ? "without it" : "some with their table"
        },
        ProbeQuestion(
            name: "data-info",
            text: "whether answers count records in `dataInfo`",
            assumed: "counted"
        ) { subject in
            told(await records(subject.layout.getRecords(recordQuery: RecordQuery(portal: [], limit: 1)))) {
                $0.dataInfo.isReported ? "counted" : "not counted"
            }
        },
    ]

    /// A question about a criterion that is not a value of its field's type.
    private static func unreadable(
        _ type: String,
        _ result: DataAPI.Layout.LayoutMetaData.FieldMetaData.CalcResult,
        _ assumed: String
    ) -> ProbeQuestion {
        ProbeQuestion(name: "unreadable-\(type)", text: "a criterion that is no \(type)", assumed: assumed) { subject in
            guard let field = subject.fields(result).first else {
                throw NotAsked(reason: "the layout shows no \(type) field")
            }
            return told(await find([[field: ">soon"]], in: subject.layout))
        }
    }

    // MARK: Questions that write to a scratch layout

    static let writes: [ProbeQuestion] = [
        ProbeQuestion(
            name: "equal-value",
            text: "writing the value that a field has already",
            assumed: "one modId more"
        ) { subject in
            try await withScratchRecord(subject) { scratch, id, field in
                let edit = EditRecord(editRecord: [field: .text("probe")] as FieldData)
                return told(await scratch.editRecord(record: edit, recordId: id).awaitSingleResult()) { first in
                    first.modId == 1 ? "one modId more" : "\(first.modId) modIds more"
                }
            }
        },
        ProbeQuestion(
            name: "duplicate-mod-id",
            text: "the modId of a record that was duplicated after an edit",
            assumed: "counted from 0"
        ) { subject in
            try await withScratchRecord(subject) { scratch, id, field in
                let edit = EditRecord(editRecord: [field: .text("probe 2")] as FieldData)
                _ = try await scratch.editRecord(record: edit, recordId: id).firstValue()
                let copy = try await scratch.duplicateRecord(recordId: id).firstValue().recordId
                let read = await records(scratch.record(id: copy))
                _ = try await scratch.deleteRecord(recordId: copy).firstValue()
                return told(read) { $0.data.first?.modId == 0 ? "counted from 0" : "counted on" }
            }
        },
        ProbeQuestion(
            name: "stale-mod-id",
            text: "an edit with a modId that is not the record's",
            assumed: "error 306, HTTP 500"
        ) { subject in
            try await withScratchRecord(subject) { scratch, id, field in
                let edit = EditRecord(editRecord: [field: .text("probe 3")] as FieldData, modId: 77)
                return told(await scratch.editRecord(record: edit, recordId: id).awaitSingleResult())
            }
        },
    ]

    /// Creates a record of the scratch layout, and deletes it after the question, whether it succeeds or fails.
    private static func withScratchRecord(
        _ subject: ProbeSubject,
        _ body: (DataAPI.Layout, _ recordId: Int, _ field: String) async throws -> String
    ) async throws -> String {
        guard let scratch = subject.scratch else {
            throw NotAsked(reason: "it needs --write, with a layout whose records may be changed")
        }
        let metadata = try await scratch.getLayoutMetadata().firstValue()
        let field = metadata.fieldMetaData.first {
            $0.type == .normal && $0.result == .text && !$0.global && !$0.name.contains("::")
        }
        guard let field = field?.name else {
            throw NotAsked(reason: "the scratch layout shows no text field of its own")
        }
        let record = EditRecord(createRecord: [field: .text("probe")] as FieldData)
        let id = try await scratch.createRecord(record: record).firstValue().recordId
        let answer: Result<String, any Error>
        do { answer = .success(try await body(scratch, id, field)) } catch { answer = .failure(error) }
        // A separate task is not cancelled by Ctrl-C, so that the record is deleted.
        _ = try await Task { try await scratch.deleteRecord(recordId: id).firstValue() }.value
        return try answer.get()
    }

    // MARK: Words

    private static func inOtherCase(_ name: String) -> String? {
        let other = name == name.lowercased() ? name.uppercased() : name.lowercased()
        return other == name ? nil : other
    }

    private static func find(
        _ criteria: [[String: String]],
        in layout: DataAPI.Layout
    ) async -> Result<Records, FMRest.APIError> {
        await records(layout.findRecords(query: FindQuery(query: criteria, limit: 1, portal: [], noMatch: .failure)))
    }

    private static func records(
        _ call: AnyPublisher<Records, FMRest.APIError>
    ) async -> Result<Records, FMRest.APIError> {
        await call.awaitSingleResult()
    }
}

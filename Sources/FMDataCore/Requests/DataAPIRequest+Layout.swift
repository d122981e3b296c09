import FMHTTP

/// What a request needs of the layout that it is sent to: the names for its path, and how records are written.
package protocol LayoutAddress {
    /// The layout's name.
    var name: String { get }
    /// The name of the layout's database.
    var databaseName: String { get }
    /// The value of the option `dateformats`.
    var dateFormats: String? { get }
    /// Encodes records, by FileMaker's rules or with the encoder of the configuration.
    var encoder: FMEncoder { get }
    /// The first part of the path of every Data API call.
    var apiRoot: String { get }
}

/// Calls of a layout.
extension DataAPIRequest {
    static func layoutMetadata(of layout: some LayoutAddress, recordId: Int?) -> Self
    where Response == DataAPI.Layout.LayoutMetaData {
        Self(
            method: .GET,
            path: .layout(layout.name, in: layout.databaseName),
            options: .shown("recordId", recordId.map(String.init)),
            isSafeToRepeat: true
        )
    }

    /// The call's form of FileMaker Server 17: without portals, and without a record for value lists.
    static func oldLayoutMetadata(of layout: some LayoutAddress) -> Self
    where Response == DataAPI.Layout.LayoutMetaData {
        Self(
            method: .GET,
            path: .layout(layout.name, in: layout.databaseName) / "metadata",
            isSafeToRepeat: true
        )
    }

    package static func records<R, P>(of layout: some LayoutAddress, query: DataAPI.RecordQuery) throws -> Self
    where Response == DataAPI.RecordResponse<R, P> {
        try Self(
            method: .GET,
            path: .records(of: layout.name, in: layout.databaseName),
            options: query.options.wireOptions(dateFormats: layout.dateFormats),
            isSafeToRepeat: !query.options.runsScripts,
            scripts: query.script.names
        )
        .checkedForURL(on: layout)
    }

    package static func record<R, P>(
        _ recordId: Int,
        of layout: some LayoutAddress,
        query: DataAPI.RecordQuery
    ) throws -> Self
    where Response == DataAPI.RecordResponse<R, P> {
        guard query.givenOffset == .none, query.givenLimit == .none, query.sortOrder == nil else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A single record has no offset, limit or sort order: leave them out of its RecordQuery."
            )
        }
        return try Self(
            method: .GET,
            path: .record(recordId, of: layout.name, in: layout.databaseName),
            options: query.options.wireOptions(dateFormats: layout.dateFormats),
            isSafeToRepeat: !query.options.runsScripts,
            scripts: query.script.names
        )
        .checkedForURL(on: layout)
    }

    package static func find<R, P>(in layout: some LayoutAddress, query: DataAPI.FindQuery) throws -> Self
    where Response == DataAPI.RecordResponse<R, P> {
        let options = try query.wireOptions(dateFormats: layout.dateFormats)
        if let answer = query.answerWithoutRequest { throw answer }
        if let refusal = query.refusal { throw refusal }
        guard !query.query.isEmpty else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A find needs at least one request.",
                hint: "getRecords(recordQuery:) returns all records."
            )
        }
        return Self(
            method: .POST,
            path: .layout(layout.name, in: layout.databaseName) / "_find",
            options: options.byName,
            body: .json,
            isSafeToRepeat: !query.options.runsScripts,
            scripts: query.script.names
        )
    }

    /// - Parameter whole: which fields are sent of a record that is written as a whole.
    package static func create<R, P>(
        in layout: some LayoutAddress,
        record: DataAPI.EditRecord<R, P>,
        carrying whole: WholeRecord = .givenByField
    ) throws -> Self where Response == DataAPI.CreateResponse {
        guard record.givenModId == .none else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A new record has no modId yet.",
                hint: "editRecord(record:recordId:) changes the record it belongs to; createRecord() takes none."
            )
        }
        return Self(
            method: .POST,
            path: .records(of: layout.name, in: layout.databaseName),
            options: whole.carried(try record.wireOptions(layout.encoder, dateFormats: layout.dateFormats)),
            body: .json,
            scripts: record.script.names
        )
    }

    /// - Parameter whole: which fields are sent of a record that is written as a whole.
    package static func edit<R, P>(
        _ recordId: Int,
        of layout: some LayoutAddress,
        record: DataAPI.EditRecord<R, P>,
        carrying whole: WholeRecord = .givenByField
    ) throws -> Self where Response == DataAPI.EditRecordResponse {
        Self(
            method: .PATCH,
            path: .record(recordId, of: layout.name, in: layout.databaseName),
            options: whole.carried(try record.wireOptions(layout.encoder, dateFormats: layout.dateFormats)),
            body: .json,
            scripts: record.script.names
        )
    }

    static func delete(_ recordId: Int, of layout: some LayoutAddress, script: DataAPI.ScriptQuery?) throws -> Self
    where Response == DataAPI.ScriptResponse {
        try Self(
            method: .DELETE,
            path: .record(recordId, of: layout.name, in: layout.databaseName),
            options: .scripts(script),
            scripts: script.names
        )
        .checkedForURL(on: layout)
    }

    static func duplicate(_ recordId: Int, of layout: some LayoutAddress, script: DataAPI.ScriptQuery?) -> Self
    where Response == DataAPI.CreateResponse {
        Self(
            method: .POST,
            path: .record(recordId, of: layout.name, in: layout.databaseName),
            options: [WireOption].scripts(script).byName,
            body: .json,
            scripts: script.names
        )
    }

    static func run(script: String, parameter: String?, in layout: some LayoutAddress) -> Self
    where Response == DataAPI.ScriptResponse {
        Self(
            method: .GET,
            path: .layout(layout.name, in: layout.databaseName) / "script" / script,
            options: .hidden("script.param", parameter),
            scripts: ScriptNames(afterRequest: script)
        )
    }
}

extension DataAPI.ScriptQuery? {
    fileprivate var names: ScriptNames { self?.names ?? ScriptNames() }
}

extension DataAPIRequest {
    /// Returns the request; throws when its URL would hold a confidential parameter, or would be too long for its
    /// parameters.
    fileprivate func checkedForURL(on layout: some LayoutAddress) throws(FMRest.APIError) -> Self {
        let reason: String
        if query.contains(where: { $0.disclosure == .confidential }) {
            reason = "The parameters of the scripts are confidential, and this call would send them in its URL."
        } else if query.contains(where: { $0.disclosure == .hidden }),
            try target(below: layout.apiRoot).utf8.count > DataAPIPath.longestTarget
        {
            reason = "The parameters of the scripts make the URL longer than \(DataAPIPath.longestTarget) characters."
        } else {
            return self
        }
        throw FMRest.APIError(
            .invalidRequest,
            reason: reason,
            hint: "findRecords, createRecord, editRecord and duplicateRecord send them in a body; "
                + "runScript(_:parameter:) runs a script alone."
        )
    }
}

/// Calls for containers.
extension DataAPIRequest {
    /// The `modId` goes into the URL: the server ignores one in the form.
    static func upload(
        _ file: FMRest.ContainerFile,
        to fieldName: String,
        recordId: Int,
        of layout: some LayoutAddress,
        repetition: Int?,
        modId: Int?,
        observer: DataAPI.ProgressObserver?,
        using generator: inout some RandomNumberGenerator
    ) throws -> Self where Response == DataAPI.UploadResponse {
        let repetition = repetition ?? 1
        guard repetition >= 1 else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A repetition counts from 1; \(repetition) was given."
            )
        }
        return Self(
            method: .POST,
            path: .record(recordId, of: layout.name, in: layout.databaseName)
                / "containers" / fieldName / String(repetition),
            options: .shown("modId", modId.map(String.init)),
            body: .multipart(try MultipartForm(file, observer: observer, using: &generator))
        )
    }
}

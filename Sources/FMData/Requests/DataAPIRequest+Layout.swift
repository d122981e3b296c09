import FMHTTP
import Foundation
import NIOCore
import NIOFoundationCompat

/// Calls that belong to a layout.
extension DataAPIRequest {
    static func layoutMetadata(of layout: DataAPI.Layout, recordId: Int?) -> Self
    where Response == DataAPI.Layout.LayoutMetaData {
        Self(
            method: .GET,
            path: .layout(layout.name, in: layout.database.name),
            query: recordId.map { [Parameter(name: "recordId", value: "\($0)")] } ?? [],
            isSafeToRepeat: true
        )
    }

    /// The form of FileMaker Server 17: no portals, and no record to work value lists out for.
    static func oldLayoutMetadata(of layout: DataAPI.Layout) -> Self
    where Response == DataAPI.Layout.LayoutMetaData {
        Self(
            method: .GET,
            path: .layout(layout.name, in: layout.database.name) / "metadata",
            isSafeToRepeat: true
        )
    }

    static func records<R, P>(of layout: DataAPI.Layout, query: DataAPI.RecordQuery) throws -> Self
    where Response == DataAPI.RecordResponse<R, P> {
        try RequestCheck.counting(offset: query.givenOffset, limit: query.givenLimit, portals: query.portal)
        var parameters: [Parameter] = []
        if let offset = query.offset { parameters.append(Parameter(name: "_offset", value: "\(offset)")) }
        if let limit = query.limit { parameters.append(Parameter(name: "_limit", value: "\(limit)")) }
        parameters += try Parameter.sort(query.sortOrder)
        let request = Self(
            method: .GET,
            path: .records(of: layout.name, in: layout.database.name),
            query: try parameters + shared(query, of: layout),
            isSafeToRepeat: query.script?.runsScripts != true,
            scripts: query.script.names
        )
        try request.check(query.script, of: layout)
        return request
    }

    static func record<R, P>(_ recordId: Int, of layout: DataAPI.Layout, query: DataAPI.RecordQuery) throws -> Self
    where Response == DataAPI.RecordResponse<R, P> {
        guard query.givenOffset == .none, query.givenLimit == .none, query.sortOrder == nil else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A single record has no offset, limit or sort order: leave them out of its RecordQuery."
            )
        }
        try RequestCheck.counting(offset: .none, limit: .none, portals: query.portal)
        let request = Self(
            method: .GET,
            path: .record(recordId, of: layout.name, in: layout.database.name),
            query: try shared(query, of: layout),
            isSafeToRepeat: query.script?.runsScripts != true,
            scripts: query.script.names
        )
        try request.check(query.script, of: layout)
        return request
    }

    private static func shared(_ query: DataAPI.RecordQuery, of layout: DataAPI.Layout) throws -> [Parameter] {
        var parameters = try Parameter.portals(query.portal)
        if let formats = layout.dateFormats { parameters.append(Parameter(name: "dateformats", value: formats)) }
        if let layout = query.layoutResponse { parameters.append(Parameter(name: "layout.response", value: layout)) }
        return parameters + Parameter.scripts(query.script)
    }

    static func find<R, P>(in layout: DataAPI.Layout, query: DataAPI.FindQuery) throws -> Self
    where Response == DataAPI.RecordResponse<R, P> {
        try RequestCheck.counting(offset: query.givenOffset, limit: query.givenLimit, portals: query.portal)
        if case .failure(let error) = query.plan { throw error }
        guard !query.query.isEmpty else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A find needs at least one request.",
                hint: "getRecords(recordQuery:) returns all records."
            )
        }
        return Self(
            method: .POST,
            path: .layout(layout.name, in: layout.database.name) / "_find",
            body: try .json(encoding: FindBody(query: query, dateFormats: layout.dateFormats)),
            isSafeToRepeat: query.script?.runsScripts != true,
            scripts: query.script.names
        )
    }

    static func create<R, P>(in layout: DataAPI.Layout, record: DataAPI.EditRecord<R, P>) throws -> Self
    where Response == DataAPI.CreateResponse {
        guard record.givenModId == .none else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A new record has no modId yet.",
                hint: "editRecord(record:recordId:) changes the record it belongs to; createRecord() takes none."
            )
        }
        return Self(
            method: .POST,
            path: .records(of: layout.name, in: layout.database.name),
            body: try .json(record, for: layout),
            scripts: record.script.names
        )
    }

    static func edit<R, P>(_ recordId: Int, of layout: DataAPI.Layout, record: DataAPI.EditRecord<R, P>) throws -> Self
    where Response == DataAPI.EditRecordResponse {
        Self(
            method: .PATCH,
            path: .record(recordId, of: layout.name, in: layout.database.name),
            body: try .json(record, for: layout),
            scripts: record.script.names
        )
    }

    static func delete(_ recordId: Int, of layout: DataAPI.Layout, script: DataAPI.ScriptQuery?) throws -> Self
    where Response == DataAPI.ScriptResponse {
        let request = Self(
            method: .DELETE,
            path: .record(recordId, of: layout.name, in: layout.database.name),
            query: Parameter.scripts(script),
            scripts: script.names
        )
        try request.check(script, of: layout)
        return request
    }

    static func duplicate(_ recordId: Int, of layout: DataAPI.Layout, script: DataAPI.ScriptQuery?) throws -> Self
    where Response == DataAPI.CreateResponse {
        Self(
            method: .POST,
            path: .record(recordId, of: layout.name, in: layout.database.name),
            body: try .json(encoding: ScriptBody(script: script)),
            scripts: script.names
        )
    }

    static func run(script: String, parameter: String?, in layout: DataAPI.Layout) -> Self
    where Response == DataAPI.ScriptResponse {
        Self(
            method: .GET,
            path: .layout(layout.name, in: layout.database.name) / "script" / script,
            query: parameter.map { [Parameter(name: "script.param", value: $0)] } ?? [],
            scripts: ScriptNames(afterRequest: script)
        )
    }
}

extension DataAPI.ScriptQuery? {
    fileprivate var names: ScriptNames { self?.names ?? ScriptNames() }
}

extension DataAPIRequest {
    /// The longest path and query, in bytes. The guide asks to keep URIs at or below 2,000 characters.
    static var longestTarget: Int { 2_000 }

    /// Refuses what must not be in the URL of this call, which has no body.
    private func check(_ scripts: DataAPI.ScriptQuery?, of layout: DataAPI.Layout) throws(FMRest.APIError) {
        guard let scripts, scripts.hasParameters else { return }
        let reason: String
        if scripts.isConfidential {
            reason = "The parameters of the scripts are confidential, and this call would send them in its URL."
        } else if try layout.database.server.target(of: self).utf8.count > Self.longestTarget {
            reason = "The parameters of the scripts make the URL longer than \(Self.longestTarget) characters."
        } else {
            return
        }
        throw FMRest.APIError(
            .invalidRequest,
            reason: reason,
            hint: "findRecords, createRecord, editRecord and duplicateRecord send them in a body; "
                + "executeScript(script:parameter:) runs a script alone."
        )
    }
}

extension DataAPI.Layout {
    fileprivate var dateFormats: String? { database.server.config.dateFormats.wireValue }
}

extension DataAPIRequest.Body {
    /// A user's record, by FileMaker's rules or by the encoder of the configuration.
    fileprivate static func json<R, P>(_ record: DataAPI.EditRecord<R, P>, for layout: DataAPI.Layout) throws -> Self {
        let server = layout.database.server
        let encoder = FMEncoder(options: server.encoding, recordEncoder: server.config.encoder)
        let body = WriteBody(
            record: record,
            modId: try record.givenModId.checked("A modId"),
            dateFormats: layout.dateFormats
        )
        return .json(ByteBuffer(bytes: try encoder.encode(body)))
    }
}

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
        try RequestCheck.counting(offset: query.offset, limit: query.limit, portals: query.portal)
        var parameters: [Parameter] = []
        if let offset = query.offset { parameters.append(Parameter(name: "_offset", value: "\(offset)")) }
        if let limit = query.limit { parameters.append(Parameter(name: "_limit", value: "\(limit)")) }
        parameters += try Parameter.sort(query.sortOrder)
        return Self(
            method: .GET,
            path: .records(of: layout.name, in: layout.database.name),
            query: try parameters + shared(query, of: layout),
            isSafeToRepeat: query.script?.runsScripts != true,
            scripts: query.script.names
        )
    }

    static func record<R, P>(_ recordId: Int, of layout: DataAPI.Layout, query: DataAPI.RecordQuery) throws -> Self
    where Response == DataAPI.RecordResponse<R, P> {
        guard query.offset == nil, query.limit == nil, query.sortOrder == nil else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A single record has no offset, limit or sort order: leave them out of its RecordQuery."
            )
        }
        try RequestCheck.counting(offset: nil, limit: nil, portals: query.portal)
        return Self(
            method: .GET,
            path: .record(recordId, of: layout.name, in: layout.database.name),
            query: try shared(query, of: layout),
            isSafeToRepeat: query.script?.runsScripts != true,
            scripts: query.script.names
        )
    }

    private static func shared(_ query: DataAPI.RecordQuery, of layout: DataAPI.Layout) throws -> [Parameter] {
        var parameters = try Parameter.portals(query.portal)
        if let formats = layout.dateFormats { parameters.append(Parameter(name: "dateformats", value: formats)) }
        if let layout = query.layoutResponse { parameters.append(Parameter(name: "layout.response", value: layout)) }
        return parameters + Parameter.scripts(query.script)
    }

    static func find<R, P>(in layout: DataAPI.Layout, query: DataAPI.FindQuery) throws -> Self
    where Response == DataAPI.RecordResponse<R, P> {
        try RequestCheck.counting(offset: query.offset, limit: query.limit, portals: query.portal)
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
        Self(
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

    static func delete(_ recordId: Int, of layout: DataAPI.Layout, script: DataAPI.ScriptQuery?) -> Self
    where Response == DataAPI.ScriptResponse {
        Self(
            method: .DELETE,
            path: .record(recordId, of: layout.name, in: layout.database.name),
            query: Parameter.scripts(script),
            scripts: script.names
        )
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

extension DataAPI.Layout {
    fileprivate var dateFormats: String? { database.server.config.dateFormats.wireValue }
}

extension DataAPIRequest.Body {
    /// A user's record, by FileMaker's rules or by the encoder of the configuration.
    fileprivate static func json<R, P>(_ record: DataAPI.EditRecord<R, P>, for layout: DataAPI.Layout) throws -> Self {
        let config = layout.database.server.config
        let body = WriteBody(record: record, dateFormats: layout.dateFormats)
        if let encoder = config.encoder { return .json(ByteBuffer(data: try encoder.encode(body))) }
        return .json(ByteBuffer(bytes: try FMEncoder(options: config.encoding).encode(body)))
    }
}

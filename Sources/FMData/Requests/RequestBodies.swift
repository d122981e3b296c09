/// The body of a find: `{"query":[…],"sort":[…],"offset":"1",…}`. Keys carry no underscore here, unlike those of a GET; the
/// server refuses the wrong form with 960.
struct FindBody: Encodable {
    var query: DataAPI.FindQuery
    var dateFormats: String?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(query.query, forKey: "query")
        try container.encodeIfPresent(query.sort.nilIfEmpty, forKey: "sort")
        try container.encodeIfPresent(query.offset.map(String.init), forKey: "offset")
        try container.encodeIfPresent(query.limit.map(String.init), forKey: "limit")
        if let portals = query.portal {
            try container.encode(portals.map(\.name), forKey: "portal")
            for portal in portals {
                try container.encodeIfPresent(portal.offset.map(String.init), forKey: WireKey("offset.\(portal.name)"))
                try container.encodeIfPresent(portal.limit.map(String.init), forKey: WireKey("limit.\(portal.name)"))
            }
        }
        try container.encodeIfPresent(query.layoutResponse, forKey: "layout.response")
        try container.encodeIfPresent(dateFormats, forKey: "dateformats")
        try container.encode(scripts: query.script)
    }
}

/// The body of a create or an edit: `{"fieldData":{…},"portalData":{…},"modId":"3",…}`.
struct WriteBody<R: Encodable, P: Encodable>: Encodable {
    var record: DataAPI.EditRecord<R, P>
    var modId: Int?
    var dateFormats: String?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        let fields = FieldDataBody(record: record.record, deleteRelated: record.deleteRelated)
        try container.encode(fields, forKey: "fieldData")
        try container.encodeIfPresent(record.portalData.map { AsPortals(value: $0) }, forKey: "portalData")
        try container.encodeIfPresent(modId.map { String($0) }, forKey: "modId")
        try container.encodeIfPresent(record.options, forKey: "options")
        try container.encodeIfPresent(dateFormats, forKey: "dateformats")
        try container.encode(scripts: record.script)
    }
}

/// The `fieldData` of a write: the user's own type, written by the rules for fields or by the user's own encoder, and beside
/// its fields the related records to delete, which the Data API wants inside.
private struct FieldDataBody<R: Encodable>: Encodable {
    var record: R
    var deleteRelated: [DataAPI.RelatedRecord]

    func encode(to encoder: any Encoder) throws {
        // The keyed container comes first, so that a record without fields is `{}` and not nothing.
        var container = encoder.container(keyedBy: WireKey.self)
        try AsFields(value: record).encode(to: encoder)
        if !deleteRelated.isEmpty {
            try container.encode(deleteRelated.map { "\($0.portal).\($0.recordId)" }, forKey: "deleteRelated")
        }
    }
}

/// The body of a call that takes nothing but scripts: duplicate. Without any it is `{}`.
struct ScriptBody: Encodable {
    var script: DataAPI.ScriptQuery?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(scripts: script)
    }
}

/// The body of a login: `{}` or the external data sources.
struct LoginBody: Encodable {
    var dataSources: DataAPI.FMDataSourceAuth?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        guard let sources = dataSources?.fmDataSource, !sources.isEmpty else { return }
        var list = container.nestedUnkeyedContainer(forKey: "fmDataSource")
        for source in sources {
            var entry = list.nestedContainer(keyedBy: WireKey.self)
            try entry.encode(source.database, forKey: "database")
            switch source.credentials {
            case .basic(let user, let password):
                try entry.encode(user, forKey: "username")
                try entry.encode(password, forKey: "password")
            case .oAuth(let requestId, let identifier):
                try entry.encode(requestId, forKey: "oAuthRequestId")
                try entry.encode(identifier, forKey: "oAuthIdentifier")
            }
        }
    }
}

/// The body of `setGlobalFields`.
struct GlobalsBody: Encodable {
    var globalFields: [String: String]
}

extension KeyedEncodingContainer<WireKey> {
    fileprivate mutating func encode(scripts: DataAPI.ScriptQuery?) throws {
        for (name, value) in scripts?.wireParameters ?? [] {
            try encode(value, forKey: WireKey(name))
        }
    }
}

extension Optional where Wrapped: Collection {
    fileprivate var nilIfEmpty: Wrapped? { flatMap { $0.isEmpty ? nil : $0 } }
}

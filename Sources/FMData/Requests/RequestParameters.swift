import Foundation

/// The options of a call, as parameters of a query.
extension DataAPIRequest.Parameter {
    static func portals(_ portals: [DataAPI.PortalRequest]?) throws -> [Self] {
        guard let portals else { return [] }
        var parameters = [Self(name: "portal", value: try jsonText(portals.map(\.name)))]
        for portal in portals {
            if let offset = portal.offset {
                parameters.append(Self(name: "_offset.\(portal.name)", value: "\(offset)"))
            }
            if let limit = portal.limit { parameters.append(Self(name: "_limit.\(portal.name)", value: "\(limit)")) }
        }
        return parameters
    }

    static func sort(_ order: [DataAPI.SortQuery]?) throws -> [Self] {
        guard let order, !order.isEmpty else { return [] }
        return [Self(name: "_sort", value: try jsonText(order))]
    }

    static func scripts(_ scripts: DataAPI.ScriptQuery?) -> [Self] {
        (scripts?.wireParameters ?? []).map { Self(name: $0.name, value: $0.value) }
    }

    /// JSON inside a parameter comes from an encoder, never from pasting: a name may hold quotes.
    private static func jsonText(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder.wire.encode(value), as: UTF8.self)
    }
}

extension JSONEncoder {
    /// For what the library itself writes: the same bytes for the same value.
    static let wire: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
}

/// What FileMaker would answer with a bare "Parameter is invalid" is refused here with a reason.
enum RequestCheck {
    static func counting(
        offset: GivenNumber,
        limit: GivenNumber,
        portals: [DataAPI.PortalRequest]?
    ) throws(FMRest.APIError) {
        try positive(offset, "An offset")
        try positive(limit, "A limit")
        for portal in portals ?? [] {
            try positive(portal.givenOffset, "The offset of portal \"\(portal.name)\"")
            try positive(portal.givenLimit, "The limit of portal \"\(portal.name)\"")
        }
    }

    private static func positive(_ number: GivenNumber, _ what: String) throws(FMRest.APIError) {
        if let number = try number.checked(what), number < 1 {
            throw FMRest.APIError(.invalidRequest, reason: "\(what) counts from 1; \(number) was given.")
        }
    }

    /// Globals are set by their qualified name, wherever they are used.
    static func qualified(_ names: some Sequence<String>) throws(FMRest.APIError) {
        for name in names where !name.contains("::") {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A global field is named with its table, as in \"Table::\(name)\"; \"\(name)\" was given."
            )
        }
    }
}

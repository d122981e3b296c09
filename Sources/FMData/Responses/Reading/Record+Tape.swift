extension DataAPI.Record where R: Decodable, P: Decodable {
    /// The record on the tape of a context, read without a container of its own, with the same result as `init(from:)`.
    /// It runs for every record of a long answer. It is inlined so that its generic types are looked up only once.
    @inline(__always)
    init(readFrom context: DecodingContext) throws {
        let tape = context.view
        let head = tape[0]
        guard head.kind == .object, !head.flags.contains(.irregular) else {
            self = try context.decode(DataAPI.Record<R, P>.self, 0, .plain)
            return
        }
        var members = RecordMembers()
        var index: UInt32 = 1
        while index < head.link {
            members.take(tape[index], at: index + 1, tape)
            index = tape.end(of: index + 1)
        }
        func value(_ index: UInt32, _ name: String) throws -> UInt32 {
            guard index != 0 else { throw context.missing(DecodingKey(name), 0) }
            return index
        }
        func isPresent(_ index: UInt32) -> Bool { index != 0 && tape[index].kind != .null }

        fieldData = try context.decode(R.self, try value(members.fieldData, "fieldData"), .fields)
        portalData = isPresent(members.portalData) ? try context.decode(P.self, members.portalData, .portals) : nil
        // Every server sends both ids. Edits are addressed by them and checked against them, so they have no default.
        recordId = try context.wireInteger(try value(members.recordId, "recordId"))
        modId = try context.wireInteger(try value(members.modId, "modId"))
        portalDataInfo =
            isPresent(members.portalDataInfo)
            ? try context.decode([DataAPI.PortalDataInfo].self, members.portalDataInfo, .plain) : nil
    }
}

/// The places of a record's members on the tape; 0 for none.
private struct RecordMembers {
    var fieldData: UInt32 = 0
    var portalData: UInt32 = 0
    var recordId: UInt32 = 0
    var modId: UInt32 = 0
    var portalDataInfo: UInt32 = 0

    /// Stores a member by its name. The length alone tells most of the names apart.
    @inline(__always)
    mutating func take(_ key: JSONTape.Entry, at value: UInt32, _ tape: TapeView) {
        switch key.length {
        case 5 where tape.isEqual(key, "modId"): modId = value
        case 8 where tape.isEqual(key, "recordId"): recordId = value
        case 9 where tape.isEqual(key, "fieldData"): fieldData = value
        case 10 where tape.isEqual(key, "portalData"): portalData = value
        case 14 where tape.isEqual(key, "portalDataInfo"): portalDataInfo = value
        default: break
        }
    }
}

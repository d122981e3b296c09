/// A value whose members are fields of a record: within an answer or a request that is plain JSON otherwise, FMData's own
/// coders apply FileMaker's rules to what is inside. Other coders see nothing of it.
struct AsFields<Value> {
    var value: Value
}

/// A value whose members are portals: arrays of rows.
struct AsPortals<Value> {
    var value: Value
}

extension AsFields: Decodable where Value: Decodable {
    init(from decoder: any Decoder) throws {
        value = try Value(from: (decoder as? ValueDecoder)?.with(.fields) ?? decoder)
    }
}

extension AsPortals: Decodable where Value: Decodable {
    init(from decoder: any Decoder) throws {
        value = try Value(from: (decoder as? ValueDecoder)?.with(.portals) ?? decoder)
    }
}

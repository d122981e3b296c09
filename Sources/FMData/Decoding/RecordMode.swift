/// A value whose members are fields of a record. Within an answer or request that is plain JSON otherwise, FMData's own
/// coders apply FileMaker's rules to its content. It has no effect on other coders.
struct AsFields<Value> {
    var value: Value
}

/// A value whose members are portals: arrays of rows.
struct AsPortals<Value> {
    var value: Value
}

extension AsFields: Decodable where Value: Decodable {
    init(from decoder: any Decoder) throws {
        value = try decoder.decode(as: .fields)
    }
}

extension AsPortals: Decodable where Value: Decodable {
    init(from decoder: any Decoder) throws {
        value = try decoder.decode(as: .portals)
    }
}

extension Decoder {
    fileprivate func decode<Value: Decodable>(as mode: DecodingContext.Mode) throws -> Value {
        guard let own = self as? ValueDecoder else { return try Value(from: self) }
        return try own.context.decode(Value.self, own.node, mode)
    }
}

/// Any JSON value, read through `Decodable`, so that each compared decoder gets the same calls.
enum AnyJSON: Decodable, Equatable, CustomStringConvertible {
    case null, bool(Bool), integer(Int), number(Double), text(String), list([AnyJSON]), object([String: AnyJSON])

    /// Equal values have equal descriptions: the description of a `Dictionary` has no stable order.
    var description: String {
        switch self {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .integer(let integer): "\(integer)"
        case .number(let number): "\(number)"
        case .text(let text): "\"\(text)\""
        case .list(let list): "\(list)"
        case .object(let object): "\(object.sorted { $0.key < $1.key })"
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? container.decode(Int.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([AnyJSON].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: AnyJSON].self))
        }
    }
}

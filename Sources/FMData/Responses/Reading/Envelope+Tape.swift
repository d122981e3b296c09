// Messages and `dataInfo` are read straight from the tape, without containers, if they have the form that servers send.
// In an answer of one record, `Decodable` would spend a quarter of its time on them. Any other form is left to
// `Decodable`.

extension DataAPI.Message {
    /// The messages on the tape of a context, with the same result as `init(from:)`.
    static func list(readFrom context: DecodingContext) throws -> [Message] {
        let tape = context.view
        var messages: [Message] = []
        guard tape[0].kind == .array else { return try context.decode([Message].self, 0, .plain) }
        var index: UInt32 = 1
        while index < tape[0].link {
            guard let code = tape.text("code", of: index), let message = tape.text("message", of: index) else {
                return try context.decode([Message].self, 0, .plain)
            }
            messages.append(Message(code: code, message: message))
            index = tape.end(of: index)
        }
        return messages
    }
}

extension DataAPI.DataInfo {
    /// The object on the tape of a context, with the same result as `init(from:)`.
    static func value(readFrom context: DecodingContext) throws -> DataAPI.DataInfo {
        let tape = context.view
        guard let database = tape.text("database", of: 0), let layout = tape.text("layout", of: 0),
            let table = tape.text("table", of: 0), let totalRecordCount = tape.count("totalRecordCount", of: 0),
            let foundCount = tape.count("foundCount", of: 0), let returnedCount = tape.count("returnedCount", of: 0)
        else { return try context.decode(DataAPI.DataInfo.self, 0, .plain) }
        return DataAPI.DataInfo(
            database: database,
            layout: layout,
            table: table,
            totalRecordCount: totalRecordCount,
            foundCount: foundCount,
            returnedCount: returnedCount
        )
    }
}

extension TapeView {
    /// A member that is a string; `nil` if it is anything else.
    fileprivate func text(_ name: StaticString, of object: UInt32) -> String? {
        guard let member = member(name, of: object), member.kind == .string else { return nil }
        return string(member)
    }

    /// A member that is a small number without a fraction; `nil` if it is anything else.
    fileprivate func count(_ name: StaticString, of object: UInt32) -> Int? {
        member(name, of: object)?.smallInteger.map(Int.init)
    }

    /// The only member of this name; `nil` if there is none, if `object` is no object, or if its keys may repeat.
    private func member(_ name: StaticString, of object: UInt32) -> JSONTape.Entry? {
        let head = self[object]
        guard head.kind == .object, !head.flags.contains(.irregular) else { return nil }
        var index = object + 1
        while index < head.link {
            if isEqual(self[index], name) { return self[index + 1] }
            index = end(of: index + 1)
        }
        return nil
    }
}

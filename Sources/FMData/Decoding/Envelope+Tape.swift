// What comes beside the records, read from the tape without containers, where it is written as servers write it. That is for
// answers of one record, of which it would otherwise be a quarter of the work. Everything else is left to `Decodable`.

extension DataAPI.Message {
    /// The messages on the tape of a context, the same as by `init(from:)`.
    static func list(readFrom context: DecodingContext) throws -> [Message] {
        let tape = context.view
        var messages: [Message] = []
        guard tape[0].kind == .array else { return try context.decode([Message].self, 0, .plain) }
        var index: UInt32 = 1
        while index < tape[0].link {
            guard let message = Message(tape, at: index) else { return try context.decode([Message].self, 0, .plain) }
            messages.append(message)
            index = tape.end(of: index)
        }
        return messages
    }

    private init?(_ tape: TapeView, at object: UInt32) {
        var (code, message): (UInt32, UInt32) = (0, 0)
        let isOrdinary = tape.forEachMember(of: object) { key, value in
            switch key.length {
            case 4 where tape.isEqual(key, "code"): code = value
            case 7 where tape.isEqual(key, "message"): message = value
            default: break
            }
        }
        guard isOrdinary, let code = tape.plainText(code), let message = tape.plainText(message) else { return nil }
        self.init(code: code, message: message)
    }
}

extension DataAPI.DataInfo {
    /// The object on the tape of a context, the same as by `init(from:)`.
    static func value(readFrom context: DecodingContext) throws -> DataAPI.DataInfo {
        try DataAPI.DataInfo(context.view) ?? context.decode(DataAPI.DataInfo.self, 0, .plain)
    }

    private init?(_ tape: TapeView) {
        var (database, layout, table): (UInt32, UInt32, UInt32) = (0, 0, 0)
        var (total, found, returned): (UInt32, UInt32, UInt32) = (0, 0, 0)
        let isOrdinary = tape.forEachMember(of: 0) { key, value in
            switch key.length {
            case 5 where tape.isEqual(key, "table"): table = value
            case 6 where tape.isEqual(key, "layout"): layout = value
            case 8 where tape.isEqual(key, "database"): database = value
            case 10 where tape.isEqual(key, "foundCount"): found = value
            case 13 where tape.isEqual(key, "returnedCount"): returned = value
            case 16 where tape.isEqual(key, "totalRecordCount"): total = value
            default: break
            }
        }
        guard isOrdinary, let database = tape.plainText(database), let layout = tape.plainText(layout),
            let table = tape.plainText(table), let total = tape.plainCount(total), let found = tape.plainCount(found),
            let returned = tape.plainCount(returned)
        else { return nil }
        self.init(
            database: database,
            layout: layout,
            table: table,
            totalRecordCount: total,
            foundCount: found,
            returnedCount: returned
        )
    }
}

extension TapeView {
    /// The text at an index that is not 0, which is nothing here.
    fileprivate func plainText(_ index: UInt32) -> String? {
        guard index != 0, self[index].kind == .string else { return nil }
        return string(self[index])
    }

    fileprivate func plainCount(_ index: UInt32) -> Int? {
        index == 0 ? nil : self[index].smallInteger.map(Int.init)
    }
}

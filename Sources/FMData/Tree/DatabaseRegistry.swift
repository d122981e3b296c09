/// The databases of a server that are in use, one for each name and account. It does not keep them alive.
struct DatabaseRegistry: Sendable {
    /// By what a database is asked for.
    struct Key: Hashable {
        let name: String
        /// `nil` for the one that was asked for without credentials. It is nobody else's, whoever logs in there.
        let account: Account?
    }

    private struct Entry: Sendable {
        weak var database: DataAPI.Database?
        /// By which it is known when nobody holds it any more.
        let id: ObjectIdentifier
        let number: Int
    }

    private var entries: [Key: Entry] = [:]
    private var keys: [ObjectIdentifier: Key] = [:]
    private var lastNumber = 0

    var count: Int { entries.count }

    subscript(key: Key) -> DataAPI.Database? { entries[key]?.database }

    /// Those that there are, by name, and of one name in the order in which they were added.
    var databases: [DataAPI.Database] {
        entries.sorted { ($0.key.name, $0.value.number) < ($1.key.name, $1.value.number) }.compactMap(\.value.database)
    }

    mutating func add(_ database: DataAPI.Database, as key: Key) {
        let id = ObjectIdentifier(database)
        lastNumber += 1
        // One that is going, and has not said so yet.
        if let last = entries[key] { keys[last.id] = nil }
        entries[key] = Entry(database: database, id: id, number: lastNumber)
        keys[id] = key
    }

    /// It has another account now. Whoever asks for that gets this one, unless there is one already; who asks for the
    /// account before gets another one.
    mutating func move(_ id: ObjectIdentifier, to account: Account?) {
        guard let key = keys[id], key.account != nil, let entry = entries.removeValue(forKey: key) else { return }
        keys[id] = nil
        guard let account else { return }
        let next = Key(name: key.name, account: account)
        guard entries[next] == nil else { return }
        entries[next] = entry
        keys[id] = next
    }

    /// It goes.
    mutating func remove(_ id: ObjectIdentifier) {
        guard let key = keys.removeValue(forKey: id) else { return }
        entries[key] = nil
    }
}

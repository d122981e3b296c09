/// The databases of a server that are in use, one for each name and account. It does not keep them alive.
struct DatabaseRegistry: Sendable {
    /// The name and account that a database is asked for by.
    struct Key: Hashable {
        let name: String
        /// `nil` for the database that was added without credentials. It never becomes an account's, whoever logs in
        /// there.
        let account: Account?
    }

    private struct Entry: Sendable {
        weak var database: DataAPI.Database?
        /// Finds the entry when the weak reference is `nil` already.
        let id: ObjectIdentifier
        let number: Int
    }

    private var entries: [Key: Entry] = [:]
    private var keys: [ObjectIdentifier: Key] = [:]
    private var lastNumber = 0

    var count: Int { entries.count }

    subscript(key: Key) -> DataAPI.Database? { entries[key]?.database }

    /// The databases in use, sorted by name, and those of one name in the order in which they were added.
    var databases: [DataAPI.Database] {
        entries.sorted { ($0.key.name, $0.value.number) < ($1.key.name, $1.value.number) }.compactMap(\.value.database)
    }

    mutating func add(_ database: DataAPI.Database, as key: Key) {
        let id = ObjectIdentifier(database)
        lastNumber += 1
        // The old database of this key is being released, and its `deinit` has not called `remove(_:)` yet.
        if let last = entries[key] { keys[last.id] = nil }
        entries[key] = Entry(database: database, id: id, number: lastNumber)
        keys[id] = key
    }

    /// Enters a database under its new account: a request for that account then returns this database, unless it has
    /// one already; a request for the previous account makes another one. When the new account has one already, or is
    /// unknown, the database is in the registry no more.
    mutating func move(_ id: ObjectIdentifier, to account: Account?) {
        guard let key = keys[id], key.account != nil, let entry = entries.removeValue(forKey: key) else { return }
        keys[id] = nil
        guard let account else { return }
        let next = Key(name: key.name, account: account)
        guard entries[next] == nil else { return }
        entries[next] = entry
        keys[id] = next
    }

    /// Removes a database that is being released.
    mutating func remove(_ id: ObjectIdentifier) {
        guard let key = keys.removeValue(forKey: id) else { return }
        entries[key] = nil
    }
}

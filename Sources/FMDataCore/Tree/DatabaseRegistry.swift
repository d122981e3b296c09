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
    /// Databases in use that no request finds, because another object has their account, or it is unknown.
    private var unfound: [ObjectIdentifier: (name: String, entry: Entry)] = [:]
    private var lastNumber = 0

    var count: Int { entries.count + unfound.count }

    subscript(key: Key) -> DataAPI.Database? { entries[key]?.database }

    /// The databases in use, sorted by name, and those of one name in the order in which they were added.
    var databases: [DataAPI.Database] {
        (entries.map { ($0.key.name, $0.value) } + unfound.values.map { ($0.name, $0.entry) })
            .sorted { ($0.0, $0.1.number) < ($1.0, $1.1.number) }
            .compactMap(\.1.database)
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
    /// one already; a request for the previous account makes another one. A database whose new account has one already,
    /// or is unknown, stays listed and is found by no request until it moves again.
    mutating func move(_ id: ObjectIdentifier, to account: Account?) {
        guard let (name, entry) = takeOut(id) else { return }
        guard let account, self[Key(name: name, account: account)] == nil else {
            unfound[id] = (name, entry)
            return
        }
        let key = Key(name: name, account: account)
        // The old database of this key is being released, as in `add(_:as:)`.
        if let last = entries[key] { keys[last.id] = nil }
        entries[key] = entry
        keys[id] = key
    }

    /// `nil` for a database that was added without credentials, which keeps its place.
    private mutating func takeOut(_ id: ObjectIdentifier) -> (name: String, entry: Entry)? {
        if let taken = unfound.removeValue(forKey: id) { return taken }
        guard let key = keys[id], key.account != nil, let entry = entries.removeValue(forKey: key) else { return nil }
        keys[id] = nil
        return (key.name, entry)
    }

    /// Removes a database that is being released.
    mutating func remove(_ id: ObjectIdentifier) {
        unfound[id] = nil
        guard let key = keys.removeValue(forKey: id) else { return }
        entries[key] = nil
    }
}

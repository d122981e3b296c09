/// The changes of an open transaction, on top of a world that others keep changing.
///
/// Others do not see the changes, and find the records locked. Record ids and serial numbers are taken from the world
/// at once, so that none is used twice, and are not returned.
///
/// Source: Claris FileMaker Pro Help, "Open Transaction", "Commit Transaction", "Revert Transaction".
struct Transaction: Sendable {
    let number: Int
    /// The world as the transaction sees it: the state of the last `follow(_:_:)` with the transaction's own changes.
    private(set) var world: World
    private(set) var touched: [RecordPlace: RecordWriter.Touch] = [:]
    /// The record that was changed last. It is validated when the script leaves it.
    private(set) var openRecord: RecordPlace?
    private(set) var removed: Set<RecordPlace> = []
    private var version: Int

    init(number: Int, world: World, version: Int) {
        self.number = number
        self.world = world
        self.version = version
    }

    /// Merges the changes that others have made to the world: their commits, locks and numbers.
    mutating func follow(_ other: World, _ version: Int) {
        if version != self.version {
            var merged = other
            for place in touched.keys {
                guard let record = world.tables[place.table].record(place.recordId) else { continue }
                merged.tables[place.table].put(record)
            }
            for place in removed { merged.tables[place.table].remove(place.recordId) }
            world = merged
            self.version = version
        }
        world.locks = other.locks
        for table in world.tables.indices { world.tables[table].takeNumbers(from: other.tables[table]) }
    }

    /// Takes over the changes of a writer.
    mutating func take(_ writer: RecordWriter) {
        world = writer.world
        openRecord = writer.changedLast ?? openRecord
        touched = writer.touched
        removed.formUnion(writer.removed)
        if let place = openRecord, removed.contains(place) { openRecord = nil }
    }

    /// Notes that the open record was validated and left.
    mutating func leftRecord() {
        openRecord = nil
    }

    /// Marks the transaction's records and numbers as taken in the world.
    func lock(_ other: inout World) {
        for place in touched.keys { other.locks[place] = number }
        for place in removed { other.locks[place] = number }
        for table in world.tables.indices { other.tables[table].takeNumbers(from: world.tables[table]) }
    }
}

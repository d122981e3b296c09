/// The records that came last and their places: so many that a page can be recognised, in constant memory.
struct KnownRecords: Sendable {
    private let capacity: Int
    private var places: [Int: Int] = [:]
    /// Ids as they came; the oldest is at `oldest` once it is full.
    private var order: [Int] = []
    private var oldest = 0
    /// Whether none was forgotten.
    private(set) var isComplete = true

    init(capacity: Int = 10_000) {
        self.capacity = capacity
    }

    var count: Int { order.count }

    func contains(_ id: Int) -> Bool { places[id] != nil }

    /// Where it was seen last.
    func place(of id: Int) -> Int? { places[id] }

    /// Takes the rows of a page in. Returns the positions of those that are new.
    ///
    /// - Parameter place: that of the first row, where places matter.
    mutating func takeNew(of rows: [Int], from place: Int = 1) -> [Int] {
        var new: [Int] = []
        for (position, id) in rows.enumerated() {
            if places.updateValue(place + position, forKey: id) == nil {
                new.append(position)
                remember(id)
            }
        }
        return new
    }

    private mutating func remember(_ id: Int) {
        guard order.count == capacity else { return order.append(id) }
        isComplete = false
        places[order[oldest]] = nil
        order[oldest] = id
        oldest = (oldest + 1) % capacity
    }
}

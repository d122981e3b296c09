/// The ids and places of the last records that came: enough to recognise a page, in constant memory.
struct KnownRecords: Sendable {
    private let capacity: Int
    private var places: [Int: Int] = [:]
    /// The ids in the order they came; when it is full, the oldest is at index `oldest`.
    private var order: [Int] = []
    private var oldest = 0
    /// Whether no record was forgotten so far.
    private(set) var isComplete = true

    init(capacity: Int = 10_000) {
        self.capacity = capacity
    }

    var count: Int { order.count }

    func contains(_ id: Int) -> Bool { places[id] != nil }

    /// The place at which the record was seen last.
    func place(of id: Int) -> Int? { places[id] }

    /// Adds the rows of a page. Returns the positions of the rows that are new.
    ///
    /// - Parameter place: the place of the first row, where places matter.
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

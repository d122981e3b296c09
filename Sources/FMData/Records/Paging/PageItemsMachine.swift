import OpenCombine

/// Turns pages into their items, one by one. The next page is requested when less than half of the current page is
/// left: at most two pages are in memory, and the subscriber waits for neither.
struct PageItemsMachine<Item>: InletMachine {
    typealias Input = ItemPage<Item>
    typealias Output = Item
    typealias Failure = FMRest.APIError
    typealias Action = SubscriptionAction<Item, FMRest.APIError, Never>

    private var demand = Subscribers.Demand.none
    private var hasBegun = false
    private var page: [Item] = []
    /// The number of the page's items that were delivered.
    private var position = 0
    private var nextPage: [Item]?
    private var isAskedFor = false
    private var ending: Subscribers.Completion<FMRest.APIError>?
    private var isOver = false

    mutating func requested(_ demand: Subscribers.Demand) {
        hasBegun = true
        self.demand += demand
    }

    mutating func received(_ page: ItemPage<Item>) {
        isAskedFor = false
        nextPage = page.items
        turnPage()
    }

    mutating func finished(_ completion: Subscribers.Completion<FMRest.APIError>) {
        ending = completion
    }

    mutating func next() -> Action? {
        if isOver { return nil }
        let left = page.count - position
        if hasBegun, !isAskedFor, ending == nil, nextPage == nil, left == 0 || left * 2 < page.count {
            isAskedFor = true
            return .ask(1)
        }
        if left > 0 {
            guard demand > .none else { return nil }
            demand -= 1
            let item = page[position]
            position += 1
            turnPage()
            return .value(item)
        }
        guard let ending else { return nil }
        isOver = true
        return .end(ending)
    }

    private mutating func turnPage() {
        guard position == page.count, let next = nextPage else { return }
        page = next
        position = 0
        nextPage = nil
    }
}

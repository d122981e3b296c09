import OpenCombine

/// Turns pages into their items, one by one. The next page is requested when less than half of the current page is
/// left: at most two pages are in memory, and the subscriber waits for neither.
struct PageItemsMachine<Item>: JoinMachine {
    typealias Input = ItemPage<Item>
    typealias Output = Item
    typealias Failure = FMRest.APIError

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

    mutating func received(_ page: ItemPage<Item>, from inlet: Int) {
        isAskedFor = false
        nextPage = page.items
        turnPage()
    }

    mutating func finished(_ completion: Subscribers.Completion<FMRest.APIError>, from inlet: Int) {
        ending = completion
    }

    mutating func next(mayDeliver: Bool) -> JoinStep<Item, FMRest.APIError> {
        if isOver { return .rest }
        let left = page.count - position
        if hasBegun, !isAskedFor, ending == nil, nextPage == nil, left == 0 || left * 2 < page.count {
            isAskedFor = true
            return .ask(inlet: 0, .max(1))
        }
        if left > 0 {
            guard demand > .none else { return .rest }
            guard mayDeliver else { return .deliverElsewhere }
            demand -= 1
            let item = page[position]
            position += 1
            turnPage()
            return .value(item)
        }
        guard let ending else { return .rest }
        guard mayDeliver else { return .deliverElsewhere }
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

// What it shows: a page over four databases on two servers, all of it declared as pipelines: the latest of everything
// (`combineLatest`), events from everywhere (`merge`), and a search as you type (`debounce`, `switchToLatest`).
// How to run it: `swift run dashboard`, in a terminal for the page that redraws itself.
// What to look at: Harbour.swift and Coast.swift, the model layer; below the model; Page.swift. Nothing in them awaits.
// In OtherPeople.swift ships move, somebody types, and one server stops and comes back: then the program ends.
import Dispatch
import FMData
import OpenCombine
import OpenCombineDispatch

@main
struct Dashboard {
    static func main() async throws {
        try await OtherPeople.work { north, south in
            let model = DashboardModel(north: north, south: south)
            return (model, Page(model))
        }
    }
}

/// What the page shows. Each property follows from the pipeline that is assigned to it.
@MainActor
final class DashboardModel: ObservableObject {
    @Published var searchText = ""
    @Published private(set) var quays: [Quay] = []
    @Published private(set) var found: [String] = []
    @Published private(set) var news: [String] = []
    private var subscriptions: Set<AnyCancellable> = []

    init(north: Coast, south: Coast) {
        north.quays
            .combineLatest(south.quays) { $0 + $1 }
            .assign(to: &$quays)

        // A search is sent when nobody has typed for a moment, and cancelled when somebody types again.
        $searchText
            .debounce(for: .milliseconds(50), scheduler: DispatchQueue.main.ocombine)
            .removeDuplicates()
            .map { text in
                text.isEmpty
                    ? Just([]).eraseToAnyPublisher()
                    : north.search(text).combineLatest(south.search(text)) { $0 + $1 }
            }
            .switchToLatest()
            .assign(to: &$found)

        north.news
            .merge(with: south.news)
            .sink(on: MainActor.shared) { [weak self] line in self?.news.append(line) }
            .store(in: &subscriptions)
    }
}

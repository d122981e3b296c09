import FMData
import Foundation
import OpenCombine

/// The page: in a terminal all of it, drawn again with each change; elsewhere the lines that are new.
@MainActor
final class Page {
    private var printed: Set<String> = []
    private var subscriptions: Set<AnyCancellable> = []

    init(_ model: DashboardModel) {
        model.$quays
            .combineLatest(model.$news, model.$found)
            .map { quays, news, found in
                quays.map(Self.line(of:)) + news.suffix(5) + found.map { "Search: \($0)" }
            }
            .removeDuplicates()
            .sink(on: MainActor.shared) { [weak self] lines in self?.show(lines) }
            .store(in: &subscriptions)
    }

    private static func line(of quay: Quay) -> String {
        let ships = quay.ships.map { "\($0.name) (\($0.berth))" }.joined(separator: ", ")
        return "\(quay.harbour): \(quay.isCurrent ? "" : "not answering, was ")\(ships)"
    }

    private func show(_ lines: [String]) {
        if isatty(STDOUT_FILENO) == 1 {
            // Move to the top left, and clear the screen below.
            print("\u{1B}[H\u{1B}[J" + lines.joined(separator: "\n"))
        } else {
            for line in lines where printed.insert(line).inserted { print(line) }
        }
        fflush(nil)
    }
}

import Foundation

extension [Double] {
    var median: Double {
        let sorted = sorted()
        guard let middle = sorted.indices.middle else { return 0 }
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}

extension Range<Int> {
    fileprivate var middle: Int? { isEmpty ? nil : (lowerBound + upperBound) / 2 }
}

/// Seconds the body took.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let clock = ContinuousClock()
    let duration = try await clock.measure(body)
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}

/// A table with a name per row, a figure per column, and the ratio to one of the rows.
func printTable(_ title: String, unit: String, rows: [(name: String, figure: Double)], baseline: [String]) {
    let base = rows.filter { baseline.contains($0.name) }.map(\.figure).max()
    print("\n\(title)")
    for row in rows.sorted(by: { $0.figure > $1.figure }) {
        let name = row.name.padding(toLength: 18, withPad: " ", startingAt: 0)
        let figure = String(format: "%10.0f %@", row.figure, unit)
        let ratio = base.map { String(format: "%6.2f ×", row.figure / $0) } ?? ""
        print("  \(name)\(figure)\(ratio)")
    }
    // Also into a pipe or a file: a run takes minutes. (`stdout` itself is a variable that Swift 6 does not let one touch.)
    fflush(nil)
}

/// Resident memory in bytes and open descriptors of this process.
func processFootprint() -> (memory: Int, descriptors: Int) {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    let memory = (pages.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    return (memory, descriptors)
}

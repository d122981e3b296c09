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

/// The seconds that the body takes.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let clock = ContinuousClock()
    let duration = try await clock.measure(body)
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}

/// The processor seconds of this process so far, on all its threads, user and system.
func processorSeconds() -> Double {
    var usage = rusage()
    // The value of RUSAGE_SELF, whose type differs between platforms.
    getrusage(0, &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
}

/// Prints a table with a name and a figure per row, the best first, and the ratio to the best of the baseline.
func printTable(
    _ title: String,
    unit: String,
    rows: [(name: String, figure: Double)],
    baseline: [String] = [],
    lessIsBetter: Bool = false
) {
    let isBetter: (Double, Double) -> Bool = lessIsBetter ? { $0 < $1 } : { $0 > $1 }
    let base = rows.filter { baseline.contains($0.name) }.map(\.figure).min(by: isBetter)
    print("\n\(title)")
    for row in rows.sorted(by: { isBetter($0.figure, $1.figure) }) {
        let name = row.name.padding(toLength: 18, withPad: " ", startingAt: 0)
        let figure = String(format: "%10.0f %@", row.figure, unit)
        let ratio = base.map { String(format: "%6.2f ×", row.figure / $0) } ?? ""
        print("  \(name)\(figure)\(ratio)")
    }
    // Flushed also for a pipe or a file, since a run takes minutes. (Swift 6 does not allow access to `stdout`, which
    // is a variable.)
    fflush(nil)
}

/// Resident memory in bytes and open descriptors of this process.
func processFootprint() -> (memory: Int, descriptors: Int) {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    let memory = (pages.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    return (memory, descriptors)
}

/// The allocated bytes, without free memory that was not returned to the system.
func allocatedBytes() throws -> Int {
    // `malloc.h` is not in Swift's module of the C library.
    guard let address = dlsym(nil, "malloc_info"), let file = tmpfile() else { throw POSIXError(.ENOSYS) }
    defer { fclose(file) }
    let mallocInfo = unsafeBitCast(address, to: (@convention(c) (CInt, UnsafeMutableRawPointer) -> CInt).self)
    guard mallocInfo(0, UnsafeMutableRawPointer(file)) == 0 else { throw POSIXError(.ENOSYS) }
    rewind(file)
    var text = [UInt8](repeating: 0, count: 1 << 20)
    text.removeLast(text.count - fread(&text, 1, text.count, file))
    // The sums over all heaps come last.
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").reversed()
    func size(_ start: String) -> Int {
        lines.first { $0.hasPrefix(start) }?.split(separator: "\"").last { Int($0) != nil }.flatMap { Int($0) } ?? 0
    }
    let free = size("<total type=\"fast\"") + size("<total type=\"rest\"")
    return size("<system type=\"current\"") + size("<total type=\"mmap\"") - free
}

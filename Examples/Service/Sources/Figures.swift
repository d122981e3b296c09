import Metrics
import Synchronization

/// Figures in memory, and a page with them in the text format of Prometheus. A larger service uses swift-prometheus or
/// swift-otel in its place.
final class Figures: MetricsFactory {
    fileprivate struct Key: Hashable, Comparable {
        var name: String
        var labels: String

        static func < (left: Key, right: Key) -> Bool { (left.name, left.labels) < (right.name, right.labels) }
    }

    private let values = Mutex<[Key: Double]>([:])

    var page: String {
        values.withLock { $0 }
            .sorted { $0.key < $1.key }
            .map { "\($0.key.name){\($0.key.labels)} \($0.value)\n" }
            .joined()
    }

    fileprivate func change(_ key: Key, _ change: (inout Double) -> Void) {
        values.withLock { change(&$0[key, default: 0]) }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Figure(self, label + "_total", dimensions)
    }

    func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        Figure(self, label + "_total", dimensions)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        Figure(self, label, dimensions)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate ? Summary(self, label, dimensions) : Figure(self, label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        Summary(self, label + "_seconds", dimensions)
    }

    // The page shows a figure as long as the process runs.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}

/// A number that grows, or rises and falls.
private final class Figure: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler {
    private let figures: Figures
    private let key: Figures.Key

    init(_ figures: Figures, _ name: String, _ dimensions: [(String, String)]) {
        self.figures = figures
        key = Figures.Key(name, dimensions)
    }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { figures.change(key) { $0 += amount } }
    func decrement(by amount: Double) { increment(by: -amount) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { figures.change(key) { $0 = value } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func reset() { set(0.0) }
}

/// How many values there were, and their sum.
private final class Summary: RecorderHandler, TimerHandler {
    private let figures: Figures
    private let count: Figures.Key
    private let sum: Figures.Key

    init(_ figures: Figures, _ name: String, _ dimensions: [(String, String)]) {
        self.figures = figures
        count = Figures.Key(name + "_count", dimensions)
        sum = Figures.Key(name + "_sum", dimensions)
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        figures.change(count) { $0 += 1 }
        figures.change(sum) { $0 += value }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
}

extension Figures.Key {
    /// Prometheus has neither dots in names nor line breaks in values.
    fileprivate init(_ label: String, _ dimensions: [(String, String)]) {
        func name(_ text: String) -> String { String(text.map { $0.isLetter || $0.isNumber ? $0 : "_" }) }
        func value(_ text: String) -> String {
            text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        }
        self.name = name(label)
        labels = dimensions.map { "\(name($0.0))=\"\(value($0.1))\"" }.joined(separator: ",")
    }
}

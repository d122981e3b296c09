import Foundation
import OpenCombine
import Testing
import NIOConcurrencyHelpers

@testable import FMData

@Suite struct ZZMeasure {
    struct Row: LayoutRecord {
        static let layout = "Rows"
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    static func allocated() -> Int {
        let address = dlsym(nil, "malloc_info")!, file = tmpfile()!
        defer { fclose(file) }
        let mallocInfo = unsafeBitCast(address, to: (@convention(c) (CInt, UnsafeMutableRawPointer) -> CInt).self)
        _ = mallocInfo(0, UnsafeMutableRawPointer(file))
        rewind(file)
        var text = [UInt8](repeating: 0, count: 1 << 20)
        text.removeLast(text.count - fread(&text, 1, text.count, file))
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").reversed()
        func size(_ start: String) -> Int {
            lines.first { $0.hasPrefix(start) }?.split(separator: "\"").last { Int($0) != nil }.flatMap { Int($0) } ?? 0
        }
        return size("<system type=\"current\"") + size("<total type=\"mmap\"")
            - size("<total type=\"fast\"") - size("<total type=\"rest\"")
    }

    static func status(_ key: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(key + ":") }
        return (line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) * 1024
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["MEASURE"] != nil)) func measure() async throws {
        let env = ProcessInfo.processInfo.environment
        let rows = DataAPI.Server(host: env["MEASURE_URL"]!)
            .addDatabase("Big", credentials: Credentials(user: "admin", password: "secret")).layout(Row.self)
        _ = try await rows.count().firstValue()
        print("sizes: record", MemoryLayout<DataAPI.TypedLayout<Row>.Record>.stride,
            "attempt", MemoryLayout<RecordAttempt<Row, Row.Portals>>.stride,
            "failure", MemoryLayout<DecodingFailure>.stride)
        let (held, rss) = (Self.allocated(), Self.status("VmRSS"))
        func say(_ what: String) {
            let n = 100_000
            print(what, "held", (Self.allocated() - held) / n, "rss", (Self.status("VmRSS") - rss) / n,
                "peak", (Self.status("VmHWM") - rss) / n)
            let trim = unsafeBitCast(dlsym(nil, "malloc_trim")!, to: (@convention(c) (Int) -> CInt).self)
            if env["TRIM"] != nil { _ = trim(0); print("  after trim rss", (Self.status("VmRSS") - rss) / n) }
        }
        var keep: [Any] = []
        switch env["MEASURE"] {
        case "array":
            keep.append(try await rows.all().collect().firstValue())
            try await Task.sleep(for: .seconds(1))
            say("array")
        case "live":
            let query = rows.live(DataAPI.LiveOptions(every: .seconds(3600) ... .seconds(3600)))
            let box = NIOLockedValueBox(0)
            keep.append(query.sink(receiveCompletion: { print($0) }, receiveValue: { value in box.withLockedValue { $0 = value.records.count } }))
            while box.withLockedValue(\.self) == 0 || !["waiting", "failing"].contains("\(query.statusNow.kind)") { try await Task.sleep(for: .milliseconds(200)) }
            try await Task.sleep(for: .seconds(1))
            say("live")
            query.refresh()
            try await Task.sleep(for: .seconds(1))
            while query.statusNow.kind != .waiting { try await Task.sleep(for: .milliseconds(200)) }
            try await Task.sleep(for: .seconds(1))
            say("live, second poll")
        default:
            let box = NIOLockedValueBox(false)
            let keeper = DataAPI.CopyKeeper(mark: { $0(.success(nil)) }, versions: { _, _, done in done(.success([])) })
            keep.append(rows.changes(keptBy: keeper).sink(receiveCompletion: { print($0) }, receiveValue: { if case .polled = $0 { box.withLockedValue { $0 = true } } }))
            while !box.withLockedValue(\.self) { try await Task.sleep(for: .milliseconds(200)) }
            try await Task.sleep(for: .seconds(1))
            say("copy")
        }
        withExtendedLifetime(keep) {}
    }
}

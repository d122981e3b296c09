/// The calls to measure, end to end: from the call to typed records.
enum APICall: String, CaseIterable, Sendable {
    case record, thousand

    var recordCount: Int {
        switch self {
        case .record: 1
        case .thousand: 1000
        }
    }

    /// Path and query below the layout's records, for contestants that write their own URLs.
    var target: String {
        let records = "\(CannedDataAPI.root)/layouts/\(CannedDataAPI.layout)/records"
        switch self {
        case .record: return "\(records)/1"
        case .thousand: return "\(records)?_limit=\(recordCount)"
        }
    }
}

/// One way to get typed records from a Data API. A contestant does `count` calls, `concurrency` of them at a time.
protocol APIContestant: Sendable {
    var name: String { get }
    func run(_ call: APICall, count: Int, concurrency: Int) async throws
    func stop() async throws
}

/// The decoded type for contestants that have no type for the answer of a Data API.
typealias PlainAnswer = DecodeModels.Answer<DecodeModels.PlainWide, DecodeModels.NoPortals>

struct WrongRecordCount: Error {
    var expected: Int
    var received: Int
}

extension APICall {
    func check(_ received: Int) throws {
        guard received == recordCount else { throw WrongRecordCount(expected: recordCount, received: received) }
    }
}

/// For contestants with async/await: `concurrency` tasks that share the calls.
func inTasks(
    _ concurrency: Int,
    count: Int,
    _ body: @escaping @Sendable (_ share: Int) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        for number in 0..<concurrency {
            let share = count / concurrency + (number < count % concurrency ? 1 : 0)
            tasks.addTask { try await body(share) }
        }
        try await tasks.waitForAll()
    }
}

import Foundation

/// Counts wrong passwords per account, and says which accounts are locked.
///
/// Names without an account are counted too; otherwise a refusal would reveal which accounts exist.
struct LoginThrottle: Sendable {
    struct Key: Hashable, Sendable {
        var database: Int
        var account: String

        /// Account names are case-insensitive.
        init(database: Int, account: String) {
            self.database = database
            self.account = account.lowercased()
        }
    }

    private struct Failures: Sendable {
        var count: Int
        var last: Date
    }

    private var failures: [Key: Failures] = [:]

    func isLocked(_ key: Key, now: Date, _ rule: Sandbox.LoginThrottling) -> Bool {
        guard let failures = failures[key], failures.count >= rule.attempts else { return false }
        return now.timeIntervalSince(failures.last) < rule.period.seconds
    }

    mutating func fail(_ key: Key, now: Date, _ rule: Sandbox.LoginThrottling) {
        failures = failures.filter { now.timeIntervalSince($0.value.last) < rule.period.seconds }
        failures[key] = Failures(count: (failures[key]?.count ?? 0) + 1, last: now)
    }

    mutating func succeed(_ key: Key) { failures[key] = nil }
}

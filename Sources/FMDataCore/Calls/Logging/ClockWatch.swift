import FMHTTP
import Foundation
import Logging
import NIOConcurrencyHelpers

/// Logs as a notice that the host's clock and this machine's differ, once until they agree again. Timestamps that the
/// host writes are as wrong, and so are time limits of tokens and certificates.
///
/// It compares with the `Date` of logins, which are rare.
final class ClockWatch: Sendable {
    /// The least difference in seconds that is reported.
    private static let tolerance = 60.0

    private let logger: Logger
    private let origin: Origin
    private let isTold = NIOLockedValueBox(false)

    /// `nil` if notices are not logged.
    init?(_ logger: Logger?, origin: Origin?) {
        guard let logger, let origin, logger.logLevel <= .notice else { return nil }
        self.logger = logger
        self.origin = origin
    }

    /// The host has answered with this date, between two instants of this machine.
    func saw(_ date: Date, between sent: Date, and received: Date) {
        let skew =
            date < sent ? date.timeIntervalSince(sent) : max(0, date.timeIntervalSince(received))
        let isOff = abs(skew) >= Self.tolerance
        let isNew = isTold.withLockedValue { isTold in
            defer { isTold = isOff }
            return isOff && !isTold
        }
        guard isNew else { return }
        logger.notice(
            "clock of the host differs from the clock of this machine",
            metadata: [LogKey.origin: "\(origin)", LogKey.skew: "\(Int(skew))"]
        )
    }
}

internal import Logging
internal import NIOConcurrencyHelpers

/// Logs as a notice, once for each certificate, that a server's certificate is about to expire. It sees the server's
/// own certificate when a connection is opened, and none of its authorities'.
final class CertificateWatch: Sendable {
    /// Certificates that are renewed by programs are renewed long before.
    private static let twoWeeks = 14 * 24 * 3600

    private let logger: Logger
    /// Seconds since 1970.
    private let now: @Sendable () -> Int
    /// The end of the certificate that was told of last.
    private let told = NIOLockedValueBox<[Origin: Int]>([:])

    /// `nil` if notices are not logged.
    init?(_ logger: Logger?, now: @escaping @Sendable () -> Int) {
        guard let logger, logger.logLevel <= .notice else { return nil }
        self.logger = logger
        self.now = now
    }

    /// A connection was opened to a server that has shown a certificate with this time, in seconds since 1970.
    func saw(validFrom: Int, until: Int, of origin: Origin) {
        // Some certificates live for days only.
        let margin = min(Self.twoWeeks, (until - validFrom) / 4)
        guard until - now() < margin else { return }
        let isNew = told.withLockedValue { told in
            defer { told[origin] = until }
            return told[origin] != until
        }
        guard isNew else { return }
        logger.notice(
            "certificate of the host is about to expire",
            metadata: [LogKey.origin: "\(origin)", LogKey.validUntil: "\(PeerCertificate.text(of: until))"]
        )
    }
}

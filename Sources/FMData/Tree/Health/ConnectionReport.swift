public import FMHTTP
public import Foundation
public import OpenCombine

extension DataAPI {
    /// What is on the way to a host: its addresses, which of them take connections, and the certificates that it shows;
    /// see ``Server/connectionReport(isolation:)``.
    public typealias ConnectionReport = FMHTTP.ConnectionReport
}

extension ConnectionReport.Certificate {
    /// When it begins to be valid.
    public var validFrom: Date {
        get { Date(timeIntervalSince1970: TimeInterval(notBefore)) }
        set { notBefore = Int(newValue.timeIntervalSince1970) }
    }

    /// When it expires.
    public var validUntil: Date {
        get { Date(timeIntervalSince1970: TimeInterval(notAfter)) }
        set { notAfter = Int(newValue.timeIntervalSince1970) }
    }

    /// Creates a certificate, for tests and doubles. The properties describe its parts.
    public init(
        names: [String],
        subject: String,
        issuer: String,
        validFrom: Date,
        validUntil: Date,
        fingerprint: String = "",
        pem: String = ""
    ) {
        self.init(
            names: names,
            subject: subject,
            issuer: issuer,
            notBefore: Int(validFrom.timeIntervalSince1970),
            notAfter: Int(validUntil.timeIntervalSince1970),
            fingerprint: fingerprint,
            pem: pem
        )
    }
}

extension DataAPI.Server {
    /// Looks at the way to the host, as calls take it, and publishes what is there step by step: which addresses its
    /// name has, whether each of them takes connections, whether a proxy opens its tunnel, and the TLS and the
    /// certificates that the host shows.
    ///
    /// ```swift
    /// let report = try await server.connectionReport().firstValue()
    /// print(report.addresses.map(\.text), report.failure?.code.description ?? "the way leads to the host")
    /// for certificate in report.tls?.certificates ?? [] { print(certificate.names, certificate.validUntil) }
    /// ```
    ///
    /// It is for a report on why a host cannot be reached, and for a watch on the dates of its certificate. Unlike a
    /// call, it goes on where an address fails or a certificate would not be accepted: **nothing in it is verified**,
    /// and nothing is sent to the host after the handshake. What calls say of the certificate is their error.
    ///
    /// Each step may take as long as `timeouts.connect`. When one address has answered, the others are given two more
    /// seconds. A transport of your own (``DataAPI/Config/transport``) is not asked.
    ///
    /// A host that cannot be reached is no error: ``DataAPI/ConnectionReport`` says so. Fails with
    /// ``FMRest/APIError/Code/invalidRequest`` when the server's host is none.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func connectionReport(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.ConnectionReport, FMRest.APIError> {
        ConnectionReportPublisher(server: self).delivered(on: isolation, by: self)
    }
}

private struct ConnectionReportPublisher: ColdPublisher {
    typealias Output = DataAPI.ConnectionReport
    typealias Failure = FMRest.APIError

    let server: DataAPI.Server

    func begin(_ subscription: ColdSubscription<Self>) {
        switch server.origin {
        case .success(let origin):
            let limit = server.calls.options.timeouts.connect
            let task = Task { [client = server.client] in
                let report = await client.connectionReport(on: origin, limit: limit)
                // A subscriber may block, which a thread of Swift concurrency must not.
                DeliveryThread.start { subscription.succeed(with: report) }
            }
            if !subscription.proceed(with: AnyCancellable { task.cancel() }) { task.cancel() }
        case .failure(let error):
            subscription.finish(.failure(error))
        }
    }
}

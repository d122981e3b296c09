import FMData
import Foundation

// What is said of a host's certificates.

extension DoctorFinding {
    typealias Certificate = DataAPI.ConnectionReport.Certificate

    /// - Parameters:
    ///   - refusal: The error of a request, if it ended before an answer: what verification says.
    ///   - host: The host as it was named.
    static func certificate(
        _ tls: DataAPI.ConnectionReport.TLS,
        _ refusal: DataAPI.TransportError?,
        host: String,
        now: Date,
        _ limits: DoctorLimits
    ) -> DoctorFinding {
        guard let own = tls.certificates.first else { return .failed("the host shows none", exit: .unreachable) }
        let days = tls.certificates.map { $0.daysLeft(now) }.min() ?? 0
        if let refusal, let advice = advice(for: refusal, tls.certificates, host) {
            return DoctorFinding.failed("\(refusal)", advice, exit: .unreachable).with(["days": days])
        }
        let names = own.names.prefix(8).joined(separator: ", ")
        let text = "for \(names), by \"\(own.signer)\", valid for \(days) days (until \(own.lastDay))"
        guard days >= limits.days else {
            let which = own.daysLeft(now) == days ? "certificate" : "certificates of its authority"
            return .warning(
                own.daysLeft(now) == days ? text : "\(text), of an authority that expires first",
                "Renew the \(which) on the host before it expires: then every client stops."
            )
            .with(["days": days])
        }
        return .ok(text).with(["days": days])
    }

    /// What to do about a certificate that is not accepted; `nil` if the error is about something else.
    private static func advice(
        for refusal: DataAPI.TransportError,
        _ certificates: [Certificate],
        _ host: String
    ) -> [String]? {
        switch refusal.code {
        case .certificateUntrusted, .certificateInvalid: trustAdvice(certificates, host)
        case .certificateNameMismatch:
            [
                "Name the host as its certificate does: --host \(certificates.first?.names.first ?? "NAME").",
                "Or give the host a certificate for this name.",
            ]
        case .certificateExpired:
            ["Renew the certificate on the host, with those of its chain.", "Is the clock of this machine right?"]
        case .certificateNotYetValid: ["Is the clock of this machine right? Is that of the machine that signed it?"]
        case .invalidTLSOptions: [ErrorText.hint(for: refusal) ?? ""]
        default: nil
        }
    }

    private static func trustAdvice(_ certificates: [Certificate], _ host: String) -> [String] {
        guard let own = certificates.first, let top = certificates.last else { return [] }
        var advice: [String] = []
        if "\(own.subject) \(own.issuer)".contains(/FileMaker|Claris|FMI/) {
            advice.append(
                "This looks like the certificate that FileMaker Server brings along, which is for tests only. Install "
                    + "one for the host's name in the Admin Console, under Configuration, SSL Certificate."
            )
        }
        guard top.isSelfSigned else {
            return advice + [
                "If it is your own authority, trust it: --ca FILE, the certificate of \"\(top.signer)\" in PEM.",
                "If it belongs to a public authority, the host does not show its intermediate certificate: import the "
                    + "certificate anew, together with that one.",
                "If it belongs to your company or an antivirus program, a proxy opens the connections: trust it, too.",
            ]
        }
        return advice + [
            "If this is your host, save what it shows: fmdata doctor --host \(host) --save-certificates host.pem",
            "Compare the fingerprint with the host's own: SHA-256 \(top.fingerprint)",
            "If they are the same, trust it: fmdata doctor --host \(host) --ca host.pem",
        ]
    }
}

extension DataAPI.ConnectionReport.Certificate {
    /// The last part of the issuer's name, mostly its common name.
    fileprivate var signer: String { issuer.components(separatedBy: ", ").last ?? issuer }

    private var validUntil: Date { Date(timeIntervalSince1970: TimeInterval(notAfter)) }

    fileprivate var lastDay: String { validUntil.formatted(.iso8601.year().month().day()) }

    fileprivate func daysLeft(_ now: Date) -> Int {
        Int((validUntil.timeIntervalSince(now) / 86_400).rounded(.down))
    }
}

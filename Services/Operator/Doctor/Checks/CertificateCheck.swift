import FoundationEssentials
import NIOSSL
import ServiceKit

/// The dates of the gateway's TLS certificate. Whether it fits its key, the configuration's check says.
struct CertificateCheck: Sendable {
    private let path: String?

    /// When the gateway itself begins to warn, at the latest.
    private static let longWarning: TimeInterval = 14 * 86_400

    /// - Throws: ``ConfigurationError``.
    init(settings: SettingValues) throws {
        path = try settings.optional(.gatewayTLSCertificateFile)
    }

    func findings(at now: Date) -> [Finding] {
        // A file that cannot be read is a problem of the configuration.
        guard let path, let certificate = try? NIOSSLCertificate.fromPEMFile(path).first else { return [] }
        let begins = Date(timeIntervalSince1970: TimeInterval(certificate.notValidBefore))
        let expires = Date(timeIntervalSince1970: TimeInterval(certificate.notValidAfter))
        let renew = "renew it; the gateway reads the files again when they change"
        if now >= expires {
            return [.failure(.certificate, "\(path) expired on \(expires.formatted(.iso8601))", renew)]
        }
        if now < begins {
            return [
                .failure(
                    .certificate, "\(path) is valid only from \(begins.formatted(.iso8601))",
                    "check the machine's clock; otherwise use another certificate")
            ]
        }
        // A certificate for a few days is renewed later than one for a year.
        guard expires.timeIntervalSince(now) >= min(Self.longWarning, expires.timeIntervalSince(begins) / 5) else {
            return [.warning(.certificate, "\(path) expires on \(expires.formatted(.iso8601))", renew)]
        }
        return [.ok(.certificate, "\(path) is valid until \(expires.formatted(.iso8601))")]
    }
}

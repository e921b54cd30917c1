import FoundationEssentials
import NIOCore
import NIOSSL
import ServiceKit

/// A TLS certificate with its private key, ready for connections.
struct ServerCertificate: Sendable {
    let context: NIOSSLContext
    let begins: Date
    let expires: Date

    /// - Throws: ``ConfigurationError``, which names the setting of a bad file.
    init(_ text: CertificateText) throws {
        let chain = try? NIOSSLCertificate.fromPEMBytes(Array(text.certificate.utf8))
        guard let chain, let own = chain.first else {
            throw Self.error(.gatewayTLSCertificateFile, text.files.certificate, "contains no certificate in PEM form")
        }
        guard let key = try? NIOSSLPrivateKey(bytes: Array(text.key.utf8), format: .pem) else {
            throw Self.error(.gatewayTLSKeyFile, text.files.key, "contains no private key in PEM form, or an encrypted one")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        // A client that does not answer the TLS shutdown must not keep its connection open.
        configuration.shutdownTimeout = .seconds(1)
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw Self.error(
                .gatewayTLSKeyFile, text.files.key, "is not the private key of the certificate in \(text.files.certificate)")
        }
        begins = Date(timeIntervalSince1970: TimeInterval(own.notValidBefore))
        expires = Date(timeIntervalSince1970: TimeInterval(own.notValidAfter))
    }

    /// The problem with the certificate's dates, in one sentence; `nil` if it is valid and does not expire soon.
    func trouble(at now: Date) -> String? {
        if now >= expires { return "the TLS certificate expired on \(expires.formatted(.iso8601))" }
        if now < begins { return "the TLS certificate is valid only from \(begins.formatted(.iso8601))" }
        // A short-lived certificate is normally renewed fewer days before its end.
        let warning = min(Self.longWarning, expires.timeIntervalSince(begins) / 5)
        guard expires.timeIntervalSince(now) < warning else { return nil }
        return "the TLS certificate expires on \(expires.formatted(.iso8601))"
    }

    private static let longWarning: TimeInterval = 14 * 86_400

    private static func error(_ setting: Setting<String>, _ path: String, _ problem: String) -> ConfigurationError {
        ConfigurationError("\(setting.declaration.name): \(path) \(problem)")
    }
}

/// The content of a certificate's files.
struct CertificateText: Hashable, Sendable {
    let files: GatewayAccess.CertificateFiles
    let certificate: String
    let key: String

    /// - Throws: ``ConfigurationError``.
    init(reading files: GatewayAccess.CertificateFiles) throws {
        self.files = files
        certificate = try OperatorFile.text(at: files.certificate, of: Setting.gatewayTLSCertificateFile.declaration)
        key = try OperatorFile.text(at: files.key, of: Setting.gatewayTLSKeyFile.declaration)
    }
}

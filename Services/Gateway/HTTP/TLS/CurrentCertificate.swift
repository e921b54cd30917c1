import FoundationEssentials
import Logging
import NIOPosix
import NIOSSL
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

/// The gateway's certificate, which is read again when its files change.
///
/// New connections use the new certificate. Open ones keep the one that they began with. While the files are bad, the last good
/// certificate stays.
final class CurrentCertificate: Service {
    private let files: GatewayAccess.CertificateFiles
    private let interval: Duration
    private let logger: Logger
    private let current: Mutex<ServerCertificate>
    private let first: Look

    /// The content of the files, or why it cannot be read.
    private enum Look: Hashable, Sendable {
        case text(CertificateText)
        case failure(String)

        init(at files: GatewayAccess.CertificateFiles) {
            do {
                self = .text(try CertificateText(reading: files))
            } catch {
                self = .failure("\(error)")
            }
        }
    }

    /// - Parameter interval: The time between two looks at the files.
    /// - Throws: ``ConfigurationError`` if a file is missing or bad.
    init(_ files: GatewayAccess.CertificateFiles, interval: Duration = .seconds(1), logger: Logger) throws {
        self.files = files
        self.interval = interval
        self.logger = logger
        let text = try CertificateText(reading: files)
        current = Mutex(try ServerCertificate(text))
        first = .text(text)
        if let warning = FilePermissions.warning(about: files.key) { logger.warning("\(warning)") }
    }

    /// For a new connection.
    var context: NIOSSLContext { current.withLock(\.context) }

    /// What `GET /health` says about the certificate.
    var health: PartHealth {
        current.withLock(\.self).trouble(at: Date()).map { PartHealth(.unavailable, $0) } ?? .ok
    }

    /// Looks at the files and at the expiry until the gateway stops.
    func run() async throws {
        await cancelWhenGracefulShutdown { await self.follow() }
    }

    private func follow() async {
        var changes = FileChanges(first)
        var warned: ContinuousClock.Instant?
        while !Task.isCancelled {
            if let trouble = current.withLock(\.self).trouble(at: Date()), warned.map({ .now - $0 > .seconds(86_400) }) ?? true {
                logger.warning("\(trouble)")
                warned = .now
            }
            do {
                try await Task.sleep(for: interval)
                let look = try await NIOThreadPool.singleton.runIfActive { [files] in Look(at: files) }
                if changes.saw(look) {
                    load(look)
                    warned = nil
                }
            } catch {
                // The gateway stops.
                return
            }
        }
    }

    private func load(_ look: Look) {
        do {
            switch look {
            case .failure(let problem): throw ConfigurationError(problem)
            case .text(let text):
                let new = try ServerCertificate(text)
                current.withLock { $0 = new }
                logger.notice("uses a new TLS certificate", metadata: ["expires": "\(new.expires.formatted(.iso8601))"])
                if let warning = FilePermissions.warning(about: files.key) { logger.warning("\(warning)") }
            }
        } catch {
            logger.warning(
                "the new TLS certificate cannot be used; the former one stays in use", metadata: ["error": "\(error)"])
        }
    }
}

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
/// New connections use the new certificate. Open connections keep theirs. While the files are bad, the last good certificate stays.
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

    /// - Parameter interval: The time between two checks of the files.
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

    /// Checks the files and the expiry until the gateway stops.
    func run() async throws {
        let outage = OutageLog("the files of the TLS certificate cannot be read", logger: logger)
        await RepeatingService(
            every: interval, outage: outage, from: (changes: FileChanges(first), warned: ContinuousClock.Instant?.none)
        ) { [self] state in
            let look = try await NIOThreadPool.singleton.runIfActive { [files] in Look(at: files) }
            if state.changes.saw(look) {
                load(look)
                state.warned = nil
            }
            let isWarned = state.warned.map { .now - $0 <= .seconds(86_400) } ?? false
            if !isWarned, let trouble = current.withLock(\.self).trouble(at: Date()) {
                logger.warning("\(trouble)")
                state.warned = .now
            }
            return .periodic
        }.run()
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

/// Decides when changed files are loaded: once two successive checks find the same content. So a half-written file is not loaded,
/// nor a new certificate with an old key. Pure.
struct FileChanges<Content: Hashable & Sendable>: Sendable {
    /// The content that was tried last.
    private var tried: Content
    /// The content at the last check.
    private var seen: Content

    /// - Parameter content: The content that is loaded.
    init(_ content: Content) {
        tried = content
        seen = content
    }

    /// Takes the present content of the files.
    ///
    /// - Returns: Whether to load it.
    mutating func saw(_ content: Content) -> Bool {
        defer { seen = content }
        guard content == seen, content != tried else { return false }
        tried = content
        return true
    }
}

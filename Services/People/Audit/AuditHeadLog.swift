import AuditTrail
import Logging
import Schemas
import ServiceLifecycle
import Storage

/// Writes the number and the hash of the newest entry into the service's log and into a file, at the start and every hour. Both are
/// outside the database, so that `msi audit verify` detects if the whole chain was computed anew.
struct AuditHeadLog: Service {
    let store: Storage
    let file: AuditHeadFile
    let logger: Logger
    var period = Duration.seconds(3_600)

    private static let pauseAfterFailure = Duration.seconds(5)

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown(log)
        } catch is CancellationError {
            // The log ends with the service.
        }
    }

    @Sendable private func log() async throws {
        while true {
            do {
                let head = try await store.snapshot { try $0.auditHead() ?? .empty }
                logger.notice(
                    "the newest entry of the audit log", metadata: ["hash": "\(head.number):\(head.hash)"])
                do throws(AuditHeadFile.Failed) {
                    try file.append(head)
                } catch {
                    logger.error("the newest entry of the audit log is only in this log", metadata: ["error": "\(error)"])
                }
                try await Task.sleep(for: period)
            } catch let error as CommandFailure {
                logger.debug("the audit log cannot be read", metadata: ["error": "\(error)"])
                try await Task.sleep(for: Self.pauseAfterFailure)
            }
        }
    }
}

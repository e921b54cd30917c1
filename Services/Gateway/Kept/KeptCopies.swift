import DedicatedThread
import DurableFiles
import FoundationEssentials
import JSON
import Logging
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Keeps the gateway's copies of credentials, of the cube and of the broadcasts in a file, for a gateway that starts while their services are away. They
/// are used only within the grace period.
final class KeptCopies: Service {
    private static let name = "gateway.json"
    private static let checkInterval: Duration = .milliseconds(500)
    private static let pauseAfterFailure: Duration = .seconds(2)
    /// Unchanged copies are written again after this time, since the services have confirmed them meanwhile.
    private static let refreshInterval: Duration = .seconds(60)

    /// What the file contains.
    private struct Written: Equatable {
        var credentials: Int
        var cube: Int
        var broadcasts: Int
    }

    private let folder: String
    private let credentials: Credentials
    private let cube: CubeService
    private let broadcasts: BroadcastService
    private let logger: Logger

    /// - Parameter folder: The state directory.
    init(
        in folder: String, credentials: Credentials, cube: CubeService, broadcasts: BroadcastService, logger: Logger
    ) {
        self.folder = folder
        self.credentials = credentials
        self.cube = cube
        self.broadcasts = broadcasts
        self.logger = logger
    }

    private var path: String { folder + "/" + Self.name }

    /// Reads the file, and waits a moment until the services have confirmed the copies.
    func restore() async {
        let data: Data?
        do {
            data = try await NIOThreadPool.singleton.runIfActive { [path] in FileManager.default.contents(atPath: path) }
        } catch {
            return
        }
        guard let data else { return }
        do {
            let document = try JSONCoder.decode(KeptDocument.self, from: data)
            if let kept = document.people { credentials.restore(kept) }
            if let kept = document.cube { try cube.restore(kept) }
            if let kept = document.broadcasts { broadcasts.restore(kept) }
        } catch {
            logger.warning("the kept copies cannot be read", metadata: ["file": "\(path)", "error": "\(error)"])
        }
        await credentials.confirmRestored()
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var written: Written?
            var refresh = ContinuousClock.now
            var hasFailed = false
            while (try? await Task.sleep(untilNext: hasFailed ? Self.pauseAfterFailure : Self.checkInterval)) != nil {
                let current = Written(
                    credentials: self.credentials.revision, cube: self.cube.copyRevision,
                    broadcasts: self.broadcasts.copyRevision)
                guard current != written || .now >= refresh else { continue }
                do {
                    try await self.write()
                    written = current
                    refresh = .now + Self.refreshInterval
                    hasFailed = false
                } catch is CancellationError {
                    return
                } catch {
                    // Logged once, until an attempt succeeds.
                    if !hasFailed { self.report(error) }
                    hasFailed = true
                }
            }
        }
        // The latest changes, such as sign-outs that the people service does not know of yet. The task of the shutdown may be cancelled.
        await Task {
            do {
                try await self.write()
            } catch {
                self.report(error)
            }
        }.value
    }

    private func report(_ error: any Error) {
        logger.warning("the copies cannot be kept", metadata: ["file": "\(path)", "error": "\(error)"])
    }

    private func write() async throws {
        let document = KeptDocument(people: credentials.kept, cube: cube.kept, broadcasts: broadcasts.kept)
        guard document.people != nil || document.cube != nil || document.broadcasts != nil else { return }
        let text = String(decoding: try JSONCoder.encode(document), as: UTF8.self)
        try await NIOThreadPool.singleton.runIfActive { [folder, path] in
            try DurableFiles.makeFolder(folder)
            try DurableFiles.replace(path, text)
        }
    }
}

import Base
import FoundationEssentials
import Logging
import NIOPosix
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Keeps the gateway's copies of credentials, of the cube and of the broadcasts in a file, for a gateway that starts while their services are away. They
/// are used only within the grace period.
final class KeptCopies: Service {
    private static let name = "gateway.json"
    private static let checkInterval: Duration = .milliseconds(500)
    private static let pauseAfterFailure: Duration = .seconds(2)
    /// How long a client waits for the disk.
    private static let maxWait: Duration = .seconds(2)
    /// Unchanged copies are written again after this time, since the services have confirmed them.
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
    /// What the file has. Locked while it is written.
    private let written = Mutex<Written?>(nil)
    /// The file as this gateway has written it last.
    private let ownFile = Mutex<FileStamp?>(nil)
    private let hasFoundOther = Atomic(false)
    /// The last of the writes that a client waits for.
    private let attempts = Mutex<Task<Result<Void, any Error>, Never>?>(nil)
    private let logger: Logger
    private let outage: OutageLog

    /// - Parameter folder: The state directory.
    init(
        in folder: String, credentials: Credentials, cube: CubeService, broadcasts: BroadcastService, logger: Logger
    ) {
        self.folder = folder
        self.credentials = credentials
        self.cube = cube
        self.broadcasts = broadcasts
        self.logger = logger
        var fileLogger = logger
        fileLogger[metadataKey: "file"] = "\(folder)/\(Self.name)"
        outage = OutageLog("the copies cannot be kept", logger: fileLogger)
        credentials.keep.withLock { $0 = { [weak self] in try await self?.keepNow() } }
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
            let document = try KeptDocument.read(data, from: path)
            if let kept = document.people { credentials.restore(kept) }
            if let kept = document.cube { try cube.restore(kept) }
            if let kept = document.broadcasts { broadcasts.restore(kept) }
        } catch {
            logger.warning("the kept copies cannot be read", metadata: ["file": "\(path)", "error": "\(error)"])
            // This gateway will replace the file, and those who have signed out were told that it counts.
            if error is UnknownFormat { restoreSignOuts(data) }
        }
        await credentials.confirmRestored()
    }

    private func restoreSignOuts(_ data: Data) {
        do {
            credentials.restore(try JSONCoder.decode(KeptSignOuts.self, from: data).signOuts)
        } catch {
            logger.warning("the kept sign-outs cannot be read", metadata: ["file": "\(path)", "error": "\(error)"])
        }
    }

    func run() async throws {
        await RepeatingService(
            every: Self.checkInterval, retries: .constant(Self.pauseAfterFailure), outage: outage, from: ContinuousClock.now
        ) { refresh in
            if try await self.write(ifUnchanged: .now >= refresh) { refresh = .now + Self.refreshInterval }
            return .periodic
        }.run()
        // The latest changes, such as sign-outs that the people service does not know of yet. The task of the shutdown may be cancelled.
        await Task {
            do {
                try await self.write(ifUnchanged: true)
            } catch {
                self.outage.failed(error)
            }
        }.value
    }

    /// Another gateway with the same state directory replaces the file, with the sign-outs in it. Logged once.
    private func warnOfOtherGateway() {
        guard let own = ownFile.withLock(\.self), let found = FileStamp(of: path), found != own,
            !hasFoundOther.exchange(true, ordering: .relaxed)
        else { return }
        logger.warning(
            "another gateway keeps its copies in the same state directory: a sign-out while the people service is away can be lost",
            metadata: ["file": "\(path)"])
    }

    /// Writes what has changed, before a client learns that a credential has ended. If that fails, the old copies are removed: they
    /// must not stay, and on a full disk they make room for the new ones.
    ///
    /// - Throws: If the copies are not in the file, or not in time: the disk may hang.
    private func keepNow() async throws {
        let attempt = attempts.withLock { last in
            // One after another, so that a disk that hangs blocks one thread.
            let attempt = Task { [last] () -> Result<Void, any Error> in
                _ = await last?.value
                do {
                    return .success(try await self.keep())
                } catch {
                    return .failure(error)
                }
            }
            last = attempt
            return attempt
        }
        guard await attempt.finishes(by: .now + Self.maxWait) else { throw TakesLong() }
        try await attempt.value.get()
    }

    private func keep() async throws {
        do {
            try await write(ifUnchanged: false)
        } catch let error where !(error is NoCopiesYet) {
            try await NIOThreadPool.singleton.runIfActive { [self] in
                try written.withLock { written in
                    written = nil
                    try FileManager.default.removeItem(atPath: path)
                    try DurableFiles.syncFolder(folder)
                }
            }
            try await write(ifUnchanged: true)
        }
    }

    /// - Returns: Whether there was something to write.
    @discardableResult
    private func write(ifUnchanged: Bool) async throws -> Bool {
        try await NIOThreadPool.singleton.runIfActive { [self] in
            try written.withLock { written in
                let current = Written(
                    credentials: credentials.revision, cube: cube.copyRevision, broadcasts: broadcasts.copyRevision)
                guard ifUnchanged || current != written else { return false }
                let document = KeptDocument(people: credentials.kept, cube: cube.kept, broadcasts: broadcasts.kept)
                guard document.people != nil || credentials.signOuts.withLock(\.first) == nil else { throw NoCopiesYet() }
                guard document.people != nil || document.cube != nil || document.broadcasts != nil else { return true }
                let text = String(decoding: try document.encoded(), as: UTF8.self)
                try DurableFiles.makeFolder(folder)
                warnOfOtherGateway()
                let stamp = try DurableFiles.replace(path, text)
                ownFile.withLock { $0 = stamp }
                written = current
                return true
            }
        }
    }
}

/// The copies are not written in time. The disk may hang.
private struct TakesLong: Error {}

/// The people service has not answered yet, so there is no place for a sign-out in the file.
private struct NoCopiesYet: Error {}

import Base
import Logging
import NIOPosix
import ServiceKit
import ServiceLifecycle
import Schemas
import Synchronization

/// Keeps the ends of devices and the keys of tokens in ``KeptEndsFile``, for a gateway that starts while the people service is away. They are
/// written in batches, and not for each request.
final class KeptEndsService: Service {
    private static let checkInterval: Duration = .milliseconds(500)
    private static let pauseAfterFailure: Duration = .seconds(2)
    /// How long a client waits for the disk.
    private static let maxWait: Duration = .seconds(2)
    /// The number of lines that are added before the file is replaced by one without old ends, or more if it has more.
    private static let minAdded = 1_000

    /// What is not in the file yet.
    private struct Unwritten {
        var ended: [EndedTokens] = []
        /// At the start, with other keys, and after a failure.
        var isAll = true
    }

    /// The lines of the file.
    private struct Lines {
        var replaced = 0
        var added = 0
    }

    private let file: KeptEndsFile
    private let folder: String
    private let devices: DeviceAccess
    private let unwritten = Mutex(Unwritten())
    /// Locked while the file is written.
    private let lines = Mutex(Lines())
    /// The last of the writes that a client waits for.
    private let attempts = Mutex<Task<Result<Void, any Error>, Never>?>(nil)
    private let logger: Logger
    private let outage: OutageLog

    /// - Parameter folder: The state directory.
    init(in folder: String, devices: DeviceAccess, logger: Logger) {
        file = KeptEndsFile(in: folder)
        self.folder = folder
        self.devices = devices
        self.logger = logger
        var fileLogger = logger
        fileLogger[metadataKey: "file"] = "\(file.path)"
        outage = OutageLog("the ends of devices cannot be kept", logger: fileLogger)
        devices.observe { [weak self] news in
            self?.unwritten.withLock { unwritten in
                unwritten.ended += news.ended
                unwritten.isAll = unwritten.isAll || news.hasOtherKeys
            }
        }
        devices.keep.withLock { $0 = { [weak self] in try await self?.keepNow() } }
    }

    /// Reads the file, and waits a moment until the people service has confirmed what it has.
    func restore() async {
        do {
            guard let kept = try await NIOThreadPool.singleton.runIfActive({ [file] in try file.read() }) else { return }
            await devices.restore(kept)
        } catch {
            logger.warning(
                "the kept ends of devices cannot be read, and are asked for again",
                metadata: ["file": "\(file.path)", "error": "\(error)"])
            do {
                try await NIOThreadPool.singleton.runIfActive { [file] in try file.setAside() }
            } catch {
                logger.warning("a damaged file stays", metadata: ["file": "\(file.path)", "error": "\(error)"])
            }
        }
    }

    func run() async throws {
        await RepeatingService(every: Self.checkInterval, retries: .constant(Self.pauseAfterFailure), outage: outage) {
            try await self.write()
        }.run()
        // The task of the shutdown may be cancelled.
        await Task {
            do {
                try await self.write()
            } catch {
                self.outage.failed(error)
            }
        }.value
    }

    /// Writes what is new, before a client learns that a device has ended.
    ///
    /// - Throws: If it is not in the file in time: the disk may hang.
    private func keepNow() async throws {
        let attempt = attempts.withLock { last in
            // One after another, so that a disk that hangs blocks one thread.
            let attempt = Task { [last] () -> Result<Void, any Error> in
                _ = await last?.value
                do {
                    return .success(try await self.write())
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

    private func write() async throws {
        try await NIOThreadPool.singleton.runIfActive { [self] in
            try lines.withLock { lines in
                let new = unwritten.withLock { unwritten in
                    defer { unwritten = Unwritten(isAll: false) }
                    return unwritten
                }
                do {
                    try write(new, &lines)
                } catch {
                    unwritten.withLock { $0.isAll = true }
                    throw error
                }
            }
        }
    }

    private func write(_ new: Unwritten, _ lines: inout Lines) throws {
        let isOld = lines.added + new.ended.count > max(Self.minAdded, lines.replaced)
        guard new.isAll || isOld else {
            guard !new.ended.isEmpty else { return }
            try file.append(new.ended)
            lines.added += new.ended.count
            return
        }
        // Nothing is known yet.
        guard let kept = devices.kept else {
            unwritten.withLock { $0.isAll = true }
            return
        }
        try DurableFiles.makeFolder(folder)
        try file.replace(by: kept)
        lines = Lines(replaced: kept.ended.count)
    }
}

extension DeviceAccess {
    /// The ends and keys for the gateway's file, without old ends; `nil` before the people service has told any keys.
    fileprivate var kept: KeptEnds? {
        state.withLock { state in
            guard !state.ends.keys.isEmpty else { return nil }
            state.ends.forgetOld(at: .now)
            return KeptEnds(applied: state.ends.applied, keys: state.ends.keys, ended: state.ends.all)
        }
    }
}

/// The ends are not written in time. The disk may hang.
private struct TakesLong: Error {}

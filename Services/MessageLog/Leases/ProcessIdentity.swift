import Base
import FoundationEssentials
import Glibc
import Logging
import Schemas

/// A process of an instance, with a unique name. Its leases carry that name.
///
/// It holds a lock on its own file, which the kernel releases when the process ends. So later processes on the same state
/// directory know whether it still runs. A process without such a file is never considered dead: its leases end by themselves.
final class ProcessIdentity: Sendable {
    private static let folder = "message-log.processes"

    /// The owner of this process's leases: the instance and the process.
    let owner: String
    private let instance: String
    private let folder: String
    /// The name of the locked file.
    private let file: String

    /// Takes the lock. If that is impossible, the log says so.
    ///
    /// - Parameters:
    ///   - instance: The instance's name from ``InstanceIdentity``.
    ///   - stateDirectory: The state directory, which is created if it is missing.
    init(of instance: String, in stateDirectory: String, logger: Logger) {
        let process = ObjectID()
        owner = "\(instance) \(process)"
        self.instance = instance
        folder = stateDirectory + "/" + Self.folder
        file = "\(process).lock"
        do {
            try DurableFiles.makeFolder(folder)
            try lock()
        } catch {
            logger.warning(
                "this process cannot be locked: if it is killed, its messages wait until their leases end",
                metadata: ["folder": "\(folder)", "error": "\(error)"])
        }
    }

    /// Calls a function for each other process of the instance that has ended, and then forgets that process. If several
    /// processes do this at the same time, only one of them gets it.
    ///
    /// - Parameter body: Takes the owner of the process's leases. If it throws, the process is not forgotten.
    /// - Returns: How many other processes are still running.
    /// - Throws: ``CommandFailure`` with status `unavailable` if the folder cannot be read, and the body's error.
    func forEachEndedProcess(_ body: (_ owner: String) async throws -> Void) async throws -> Int {
        let files: [String]
        do {
            files = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw CommandFailure(.unavailable, "\(folder) cannot be read: \(error)")
        }
        var running = 0
        for file in files where file != self.file && file.hasSuffix(".lock") {
            let path = "\(folder)/\(file)"
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            // Another process has just forgotten it.
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard let owner = Self.owner(in: path), owner.hasPrefix(instance + " ") else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                try await body(owner)
                unlink(path)
            } else {
                running += 1
            }
        }
        return running
    }

    private static func owner(in path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Locks the file before it gets its name, so that an unlocked file never exists. The kernel closes the descriptor.
    private func lock() throws {
        let (draft, path) = ("\(folder)/\(file).new", "\(folder)/\(file)")
        let descriptor = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("\(draft) cannot be made") }
        let text = Array(owner.utf8)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, write(descriptor, text, text.count) == text.count,
            rename(draft, path) == 0
        else {
            defer {
                unlink(draft)
                close(descriptor)
            }
            throw Self.failure("\(path) cannot be locked")
        }
    }

    private static func failure(_ problem: String) -> CommandFailure {
        CommandFailure(.unavailable, "\(problem): \(String(cString: strerror(errno)))")
    }
}

/// An instance's unique name, which is the same after a restart: the state directory's identifier and the instance's endpoint.
/// Neither alone is unique: several hosts may have the same endpoint, and several instances may share a state directory.
enum InstanceIdentity {
    private static let file = "message-log.id"

    /// - Parameters:
    ///   - folder: The state directory, which is created if it is missing.
    ///   - endpoint: The instance's endpoint.
    ///   - logger: Gets a line if the stored identifier cannot be read.
    /// - Throws: ``CommandFailure`` with status `unavailable` if the folder cannot be used.
    static func name(in folder: String, listeningAt endpoint: String, logger: Logger) throws -> String {
        let path = folder + "/" + file
        do {
            try DurableFiles.makeFolder(folder)
            return "\(try identifier(in: path, logger: logger)) \(endpoint)"
        } catch {
            throw CommandFailure(.unavailable, "\(path) cannot be used: \(error)")
        }
    }

    private static func identifier(in path: String, logger: Logger) throws -> ObjectID {
        let new = ObjectID()
        // If two instances start at the same time, the first one's identifier stays.
        if !FileManager.default.fileExists(atPath: path), try DurableFiles.create(path, "\(new)") { return new }
        let stored = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        if let identifier = ObjectID(stored) { return identifier }
        // A power cut can leave an empty file if the file was not synced. A new identifier is safe: no other instance has it,
        // and the leases of the lost one end by themselves.
        try DurableFiles.replace(path, "\(new)")
        logger.warning(
            "the instance's identifier was not readable and was replaced; messages leased under the old one wait for their leases",
            metadata: ["file": "\(path)"])
        return new
    }
}

import FoundationEssentials
import Glibc
import Schemas

/// A name that no other instance of the message log has, and that stays the same over restarts: the state directory's own
/// identifier, made once, and where the instance listens. Neither alone would do: hosts may have the same name and listen at
/// the same path, and several instances may share a state directory.
enum InstanceIdentity {
    private static let file = "message-log.id"

    /// - Parameters:
    ///   - folder: The state directory; made if it is not there.
    ///   - endpoint: Where the instance listens.
    /// - Throws: ``CommandFailure`` with status `unavailable` when the folder cannot be used.
    static func name(in folder: String, listeningAt endpoint: String) throws -> String {
        let path = folder + "/" + file
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            if !FileManager.default.fileExists(atPath: path) { try make(path) }
            let text = try String(contentsOfFile: path, encoding: .utf8)
            guard let identifier = ObjectID(text) else { throw CommandFailure(.unavailable, "\(path) holds no identifier") }
            return "\(identifier) \(endpoint)"
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(.unavailable, "\(path) cannot be used: \(error)")
        }
    }

    /// Makes the file whole or not at all; of two instances that start together, the first one's stays.
    private static func make(_ path: String) throws {
        let draft = "\(path).\(getpid())"
        try Data("\(ObjectID())".utf8).write(to: URL(filePath: draft))
        defer { unlink(draft) }
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw CommandFailure(.unavailable, "\(path) cannot be made: \(String(cString: strerror(errno)))")
        }
    }
}

import DurableFiles
import FoundationEssentials
import Logging
import Schemas

/// A name that no other instance of the message log has, and that stays the same over restarts: the state directory's own
/// identifier, made once, and where the instance listens. Neither alone would do: hosts may have the same name and listen at
/// the same path, and several instances may share a state directory.
enum InstanceIdentity {
    private static let file = "message-log.id"

    /// - Parameters:
    ///   - folder: The state directory; made if it is not there.
    ///   - endpoint: Where the instance listens.
    ///   - logger: Told when the identifier that was stored cannot be read.
    /// - Throws: ``CommandFailure`` with status `unavailable` when the folder cannot be used.
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
        // Of two instances that start together, the first one's stays.
        if !FileManager.default.fileExists(atPath: path), try DurableFiles.create(path, "\(new)") { return new }
        let stored = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        if let identifier = ObjectID(stored) { return identifier }
        // A power cut leaves a file without its bytes where the file was not synced. A new identifier is safe: no other
        // instance has it, and the leases of the lost one end by themselves.
        try DurableFiles.replace(path, "\(new)")
        logger.warning(
            "the instance's identifier was not readable and is made anew; messages leased under the old one wait for their leases",
            metadata: ["file": "\(path)"])
        return new
    }
}

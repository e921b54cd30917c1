import DurableFiles
import FoundationEssentials
import Logging
import Schemas

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
            "the instance's identifier was not readable and is made anew; messages leased under the old one wait for their leases",
            metadata: ["file": "\(path)"])
        return new
    }
}

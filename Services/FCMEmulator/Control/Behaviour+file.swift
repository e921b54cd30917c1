import FoundationEssentials
import JSON
import ServiceKit

extension Behaviour {
    /// Reads a JSON file.
    ///
    /// - Throws: `ConfigurationError` with the file's name and the problem.
    init(file path: String) throws {
        do {
            try self.init(JSONValue(requestBody: try Data(contentsOf: URL(filePath: path))))
        } catch {
            // Google's further lines quote the document. This may be another file than was meant.
            let problem = (error as? GoogleError)?.message.prefix { !$0.isNewline } ?? "it cannot be read: \(error)"
            throw ConfigurationError(
                "\(Setting.fcmEmulatorBehaviourFile.declaration.name): \(path): \(problem)")
        }
    }
}

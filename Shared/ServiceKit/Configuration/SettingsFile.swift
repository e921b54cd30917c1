import Configuration
import FoundationEssentials
import SystemPackage

/// The configuration file: lines of `MSI_NAME=value`, empty lines, and comments after `#`.
struct SettingsFile {
    let provider: EnvironmentVariablesProvider
    /// The names in the file, which the provider cannot list.
    let names: [String]

    /// Reads a file.
    static func reading(_ path: String) async -> Result<SettingsFile, ConfigurationError> {
        do throws(ConfigurationError) {
            return .success(try await SettingsFile(path: path))
        } catch {
            return .failure(error)
        }
    }

    /// - Throws: ``ConfigurationError``.
    private init(path: String) async throws(ConfigurationError) {
        do {
            names = try Self.names(in: try OperatorFile.text(at: path, of: .configFile), at: path)
            provider = try await EnvironmentVariablesProvider(environmentFilePath: FilePath(path))
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError("\(SettingDeclaration.configFile.name): \(path) cannot be read: \(error)")
        }
    }

    /// Reads the names. An invalid line may contain a secret, so the error has only its line number.
    private static func names(in text: String, at path: String) throws -> [String] {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return try lines.enumerated().compactMap { index, line in
            guard let first = line.first(where: { !$0.isWhitespace }), first != "#" else { return nil }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].filter { !$0.isWhitespace }
            guard parts.count == 2, name.wholeMatch(of: /MSI_[A-Za-z0-9_]+/) != nil else {
                throw ConfigurationError("line \(index + 1) of \(path) is not a setting: expected MSI_NAME=value")
            }
            return name
        }
    }
}

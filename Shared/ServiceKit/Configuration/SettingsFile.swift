import Configuration
import FoundationEssentials
import SystemPackage

/// The configuration file: lines of `MSI_NAME=value`, empty lines, and comments after `#`.
struct SettingsFile {
    let provider: EnvironmentVariablesProvider
    /// The names in the file, which the provider cannot list.
    let names: Set<String>
    /// One sentence for each name that is in several lines, without its values, which may be secret; and one if others can change the file.
    let warnings: [String]

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
            let lines = try Self.lines(of: try OperatorFile.text(at: path, of: .configFile), at: path)
            names = Set(lines.keys)
            let repeated = lines.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }.map { name, numbers in
                let last = numbers.last.map(String.init) ?? ""
                let others = numbers.dropLast().map(String.init).joined(separator: ", ")
                return "\(name.prefix(80)) is in the lines \(others) and \(last) of \(path); only line \(last) counts"
            }
            let writer = FilePermissions.foreignWriter(of: path)
            warnings = repeated + (writer.map { ["\(path) \($0), who can change the settings"] } ?? [])
            provider = try await EnvironmentVariablesProvider(environmentFilePath: FilePath(path))
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError("\(SettingDeclaration.configFile.name): \(path) cannot be read: \(error)")
        }
    }

    /// Reads the names with the numbers of their lines. An invalid line may contain a secret, so the error has only its number.
    private static func lines(of text: String, at path: String) throws -> [String: [Int]] {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return try lines.enumerated().reduce(into: [:]) { numbers, entry in
            let (index, line) = entry
            guard let first = line.first(where: { !$0.isWhitespace }), first != "#" else { return }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].filter { !$0.isWhitespace }
            guard parts.count == 2, name.wholeMatch(of: /MSI_[A-Za-z0-9_]+/) != nil else {
                throw ConfigurationError("line \(index + 1) of \(path) is not a setting: expected MSI_NAME=value")
            }
            numbers[name, default: []].append(index + 1)
        }
    }
}

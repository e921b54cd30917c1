import Configuration
import FoundationEssentials
import SystemPackage

/// The settings as the operator wrote them: flags before the environment, the environment before the file.
package struct SettingValues: Sendable {
    private let reader: ConfigReader
    /// What `~` stands for, as a shell has it: `HOME`, and where that is not set the user's own folder.
    private let home: String

    /// Reads all three sources and refuses names that nobody knows.
    ///
    /// - Parameters:
    ///   - arguments: The command line without the program's name: `--flag value` or `--flag=value`, nothing else.
    ///   - environment: The process's environment; names that do not begin with `MSI_` are somebody else's.
    ///   - accepted: The settings that may be given as flags.
    /// - Throws: ``ConfigurationError``.
    package init(arguments: [String], environment: [String: String], accepted: [SettingDeclaration]) async throws {
        try Self.checkFlags(arguments, accepted: accepted)
        try Self.checkNames(environment.keys.filter { $0.hasPrefix("MSI_") }, in: "the environment")
        let flags = CommandLineArgumentsProvider(arguments: [""] + arguments)
        let variables = EnvironmentVariablesProvider(environmentVariables: environment)
        var providers: [any ConfigProvider] = [flags, variables.prefixKeys(with: "msi")]
        if let path = ConfigReader(providers: providers).string(forKey: ConfigKey(SettingDeclaration.configFile.key)) {
            providers.append(try await Self.file(at: path).prefixKeys(with: "msi"))
        }
        reader = ConfigReader(providers: providers)
        home =
            environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.path(percentEncoded: false)
    }

    /// Reads one setting, or its default.
    ///
    /// - Throws: ``ConfigurationError`` when the text is not what is expected, or there is none and no default.
    package func value<Value>(_ setting: Setting<Value>) throws -> Value {
        guard let value = try optional(setting) else {
            let declaration = setting.declaration
            throw ConfigurationError("\(declaration.name) is required: \(declaration.expected). \(declaration.summary)")
        }
        return value
    }

    /// Reads one setting, or its default; `nil` where there is neither.
    package func optional<Value>(_ setting: Setting<Value>) throws -> Value? {
        let declaration = setting.declaration
        let written = reader.string(forKey: ConfigKey(declaration.key))
        guard let text = try written ?? declaration.fallback.map(resolve) else { return nil }
        guard let value = setting.parse(expandingHome(text)) else {
            let found = declaration.isSecret ? "something else" : "\"\(text.prefix(80))\""
            throw ConfigurationError("\(declaration.name): expected \(declaration.expected), found \(found)")
        }
        do {
            try setting.check(value)
        } catch {
            throw ConfigurationError("\(declaration.name): \(error)")
        }
        return value
    }

    /// Reads one setting, or its default, further; `nil` where there is neither. Whatever that finds wrong is the setting's fault.
    package func optional<Value, Meaning>(
        _ setting: Setting<Value>, as read: (Value) throws -> Meaning
    ) throws -> Meaning? {
        guard let value = try optional(setting) else { return nil }
        do {
            return try read(value)
        } catch {
            throw ConfigurationError("\(setting.declaration.name): \(error)")
        }
    }

    /// Replaces `$NAME` by the value of the folder setting of that name.
    private func resolve(_ fallback: String) throws -> String {
        for setting in [Setting<String>.stateDirectory, .runtimeDirectory] {
            let parts = fallback.split(separator: "$" + setting.declaration.name, maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { return try parts[0] + value(setting) + parts[1] }
        }
        return fallback
    }

    private func expandingHome(_ text: String) -> String {
        guard text.hasPrefix("~/") else { return text }
        return home + (home.hasSuffix("/") ? "" : "/") + text.dropFirst(2)
    }

    private static func checkFlags(_ arguments: [String], accepted: [SettingDeclaration]) throws {
        let known = accepted.filter { !$0.isSecret }.map(\.flag)
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard argument.hasPrefix("--"), let flag = parts.first.map(String.init) else {
                throw ConfigurationError("\"\(argument.prefix(80))\" is not a flag; see --help")
            }
            if let secret = accepted.first(where: { $0.isSecret && $0.flag == flag }) {
                throw ConfigurationError("\(flag) would be seen in every list of processes; set \(secret.name) instead")
            }
            guard known.contains(flag) else {
                throw ConfigurationError("\(flag.prefix(80)) is not a flag of this program\(suggestion(for: flag, among: known))")
            }
            if parts.count == 1, rest.popFirst()?.hasPrefix("--") ?? true {
                throw ConfigurationError("\(flag) needs a value")
            }
        }
    }

    private static func checkNames(_ names: some Sequence<String>, in place: String) throws {
        let known = SettingDeclaration.all.map(\.name)
        for name in names.sorted() where !known.contains(name) {
            throw ConfigurationError("\(name.prefix(80)) in \(place) is not a setting\(suggestion(for: name, among: known))")
        }
    }

    private static func file(at path: String) async throws -> EnvironmentVariablesProvider {
        do {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            // The provider answers for names that it is asked for; which names a file holds is read off its lines.
            let names = try names(in: text, at: path)
            try checkNames(names, in: path)
            return try await EnvironmentVariablesProvider(environmentFilePath: FilePath(path))
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError("\(SettingDeclaration.configFile.name): \(path) cannot be read: \(error)")
        }
    }

    /// The names that the lines of a file set. What is no name may be a secret that has lost its own: only its place is told.
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

    /// The known name that a mistyped one most resembles: the one that shares the longest beginning and end with it.
    private static func suggestion(for name: String, among known: [String]) -> String {
        let best = known.max { likeness(name, $0) < likeness(name, $1) }
        guard let best, likeness(name, best) * 2 > best.count else { return "" }
        return "; did you mean \(best)?"
    }

    private static func likeness(_ one: String, _ other: String) -> Int {
        let beginning = zip(one, other).prefix { $0 == $1 }.count
        let end = zip(one.reversed(), other.reversed()).prefix { $0 == $1 }.count
        return min(beginning + end, one.count, other.count)
    }
}

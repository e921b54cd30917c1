import Configuration
import FoundationEssentials

/// The operator's settings. Flags override the environment, and the environment overrides the file.
package struct SettingValues: Sendable {
    private let reader: ConfigReader
    /// The value of `~`, as in a shell: `HOME`, or the user's home folder if `HOME` is not set.
    private let home: String
    /// Problems that do not stop the start, one sentence each.
    package let warnings: [String]

    /// Reads all three sources.
    ///
    /// An unknown flag is refused. An unknown name in the environment or in the file is refused if it looks like a mistyped
    /// setting. Otherwise it is a warning: container platforms add variables, and other versions of the product have other
    /// settings.
    ///
    /// - Parameters:
    ///   - arguments: The command line without the program's name: `--flag value` or `--flag=value`, nothing else.
    ///   - environment: The process's environment. Names that do not begin with `MSI_` are ignored.
    ///   - accepted: The settings that may be given as flags.
    /// - Throws: ``ConfigurationError``.
    package init(arguments: [String], environment: [String: String], accepted: [SettingDeclaration]) async throws {
        try Self.checkFlags(arguments, accepted: accepted)
        var warnings = try Self.unknownNames(environment.keys.filter { $0.hasPrefix("MSI_") }, in: "the environment")
        let flags = CommandLineArgumentsProvider(arguments: [""] + arguments)
        let variables = EnvironmentVariablesProvider(environmentVariables: environment)
        var providers: [any ConfigProvider] = [flags, variables.prefixKeys(with: "msi")]
        if let path = ConfigReader(providers: providers).string(forKey: ConfigKey(SettingDeclaration.configFile.key)) {
            let file = try await SettingsFile(path: path)
            providers.append(file.provider.prefixKeys(with: "msi"))
            warnings += try Self.unknownNames(file.names, in: path)
            let secrets = Set(SettingDeclaration.all.filter(\.isSecret).map(\.name))
            if !secrets.isDisjoint(with: file.names), let warning = FilePermissions.warning(about: path) {
                warnings.append(warning)
            }
        }
        reader = ConfigReader(providers: providers)
        self.warnings = warnings
        home =
            environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.path(percentEncoded: false)
    }

    /// Reads one setting, or its default.
    ///
    /// - Throws: ``ConfigurationError`` if the text is invalid, or if there is neither a text nor a default.
    package func value<Value>(_ setting: Setting<Value>) throws -> Value {
        guard let value = try optional(setting) else {
            let declaration = setting.declaration
            throw ConfigurationError("\(declaration.name) is required: \(declaration.expected). \(declaration.summary)")
        }
        return value
    }

    /// Reads one setting or its default; `nil` if there is neither.
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

    /// Reads one setting or its default and converts it; `nil` if there is neither. An error of the conversion names the setting.
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

    /// Replaces `$NAME` by the value of that folder setting.
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
                let suggestion = nearest(to: flag, among: known).map { "; did you mean \($0)?" } ?? ""
                throw ConfigurationError("\(flag.prefix(80)) is not a flag of this program\(suggestion)")
            }
            if parts.count == 1, rest.popFirst()?.hasPrefix("--") ?? true {
                throw ConfigurationError("\(flag) needs a value")
            }
        }
    }

    /// - Returns: A warning for each name that is not a setting.
    /// - Throws: ``ConfigurationError`` for one that looks like a mistyped setting.
    private static func unknownNames(_ names: some Sequence<String>, in place: String) throws -> [String] {
        let known = SettingDeclaration.all.map(\.name)
        return try names.sorted().filter { !known.contains($0) }.map { name in
            let problem = "\(name.prefix(80)) in \(place) is not a setting"
            if let meant = nearest(to: name, among: known) { throw ConfigurationError("\(problem); did you mean \(meant)?") }
            return "\(problem) of this version, and is ignored"
        }
    }

    /// The known name within one or two typing mistakes of another name.
    private static func nearest(to name: String, among known: [String]) -> String? {
        known.filter { abs($0.count - name.count) <= 2 }.map { (name: $0, distance: editDistance(name, $0)) }
            .filter { $0.distance <= 2 }.min { $0.distance < $1.distance }?.name
    }
}

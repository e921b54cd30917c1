import Configuration
import FoundationEssentials

/// The operator's settings. Flags override the environment, and the environment overrides the file.
package struct SettingValues: Sendable {
    private let reader: ConfigReader
    /// The value of `~`, as in a shell: `HOME`, or the user's home folder if `HOME` is not set.
    private let home: String
    /// Problems that do not stop the start, one sentence each.
    package let warnings: [String]
    /// The file of settings; `nil` if none is named.
    package let configurationFile: String?
    /// The names in the configuration file that have no effect, because a flag or the environment gives another value.
    package let overriddenInFile: [String]
    /// The settings that a reload changes.
    let liveSettings = LiveSettings()

    /// Reads all three sources.
    ///
    /// An unknown flag is refused. An unknown name in the environment or in the file is refused if it looks like a
    /// mistyped setting, or is one that the service needs and that has no effect any more. Otherwise it is a warning: container platforms
    /// add variables, and other versions of the product have other settings.
    ///
    /// - Parameters:
    ///   - arguments: The command line without the program's name: `--flag value` or `--flag=value`, nothing else.
    ///   - environment: The process's environment. Names that do not begin with `MSI_` are ignored.
    ///   - accepted: The settings that may be given as flags.
    /// - Throws: ``ConfigurationError``.
    package init(arguments: [String], environment: [String: String], accepted: [SettingDeclaration]) async throws {
        try Self.checkFlags(arguments, accepted: accepted)
        try await self.init(arguments, environment, accepted) { (mistake: ConfigurationError) throws(ConfigurationError) in
            throw mistake
        }
    }

    /// Reads the environment and the file as far as they have no mistake, for a command that looks for mistakes.
    ///
    /// - Parameter mistakes: Gets one sentence for each. A mistyped name is left out, and so is a file with an invalid line.
    package init(environment: [String: String], mistakes: inout [String]) async {
        var found: [String] = []
        // Nothing is thrown.
        await self.init([], environment, []) { (mistake: ConfigurationError) throws(Never) in found.append(mistake.description) }
        mistakes += found
    }

    /// - Parameter refuse: Gets the mistakes. If it returns, the rest is read.
    private init<Failure: Error>(
        _ arguments: [String], _ environment: [String: String], _ accepted: [SettingDeclaration],
        refuse: (ConfigurationError) throws(Failure) -> Void
    ) async throws(Failure) {
        var warnings = try Self.unknownNames(
            environment.keys.filter { $0.hasPrefix("MSI_") }, in: "the environment", accepted, refuse: refuse)
        let flags = CommandLineArgumentsProvider(arguments: [""] + arguments)
        let variables = EnvironmentVariablesProvider(environmentVariables: environment)
        var providers: [any ConfigProvider] = [flags, variables.prefixKeys(with: "msi")]
        var overridden: [String] = []
        if let path = ConfigReader(providers: providers).string(forKey: ConfigKey(SettingDeclaration.configFile.key)) {
            switch await SettingsFile.reading(path) {
            case .failure(let error): try refuse(error)
            case .success(let file):
                let stronger = ConfigReader(providers: providers)
                let own = ConfigReader(provider: file.provider.prefixKeys(with: "msi"))
                overridden = SettingDeclaration.withFiles.filter { setting in
                    let key = ConfigKey(setting.key)
                    return file.names.contains(setting.name)
                        && stronger.string(forKey: key).map { $0 != own.string(forKey: key) } ?? false
                }.map(\.name)
                providers.append(file.provider.prefixKeys(with: "msi"))
                warnings += try Self.unknownNames(file.names, in: path, accepted, refuse: refuse)
                warnings += file.warnings
                let secrets = Set(SettingDeclaration.all.filter(\.isSecret).map(\.name))
                if !secrets.isDisjoint(with: file.names), let warning = FilePermissions.warning(about: path) {
                    warnings.append(warning)
                }
            }
        }
        reader = ConfigReader(providers: providers)
        let home =
            environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.path(percentEncoded: false)
        for file in SettingDeclaration.all.compactMap(\.file) {
            guard let path = reader.string(forKey: ConfigKey(file.key)) else { continue }
            if let warning = FilePermissions.warning(about: Self.expandingHome(path, home)) { warnings.append(warning) }
        }
        self.home = home
        self.warnings = warnings
        overriddenInFile = overridden
        configurationFile = ConfigReader(providers: providers).string(forKey: ConfigKey(SettingDeclaration.configFile.key))
    }

    /// Reads one setting, or its default.
    ///
    /// - Throws: ``ConfigurationError`` if the text is invalid, or if there is neither a text nor a default.
    package func value<Value>(_ setting: Setting<Value>) throws -> Value {
        guard let value = try optional(setting) else {
            let declaration = setting.declaration
            // A secret belongs in a file.
            let expected = declaration.file.map { "\(declaration.expected), or \($0.name), a file that holds it" }
            throw ConfigurationError(
                "\(declaration.name) is required: \(expected ?? declaration.expected). \(declaration.summary)")
        }
        return value
    }

    /// Reads one setting or its default; `nil` if there is neither.
    ///
    /// - Throws: ``ConfigurationError`` for an invalid text.
    package func optional<Value>(_ setting: Setting<Value>) throws -> Value? {
        try read(setting)?.value
    }

    /// Reads one setting or its default and converts it; `nil` if there is neither. An error of the conversion names the setting.
    package func optional<Value, Meaning>(
        _ setting: Setting<Value>, as meaning: (Value) throws -> Meaning
    ) throws -> Meaning? {
        guard let (value, name) = try read(setting) else { return nil }
        do {
            return try meaning(value)
        } catch {
            throw ConfigurationError("\(name): \(error)")
        }
    }

    /// Reads one setting or its default as a value of an enumeration.
    ///
    /// - Throws: ``ConfigurationError`` like ``value(_:)``, and for an unknown word.
    package func value<Word: RawRepresentable<String>>(_ setting: Setting<String>, as type: Word.Type) throws -> Word {
        let text = try value(setting)
        guard let word = Word(rawValue: text) else {
            throw ConfigurationError("\(setting.declaration.name): \"\(text)\" has no meaning here")
        }
        return word
    }

    /// Whether the operator has given a setting a value, which may be the default.
    package func isSet(_ setting: SettingDeclaration) -> Bool { string(setting.key) != nil }

    /// Checks the form of settings, and reads the files of secrets.
    ///
    /// - Returns: One sentence for each that is wrong.
    package func problems(of settings: [SettingDeclaration]) -> [String] {
        settings.compactMap { setting in
            do {
                if let (text, name) = try text(of: setting) { try setting.check(Self.expandingHome(text, home), name) }
                return nil
            } catch {
                return "\(error)"
            }
        }
    }

    /// The files with secrets that the settings name.
    package var secretFiles: [(setting: SettingDeclaration, path: String)] {
        SettingDeclaration.withFiles.filter(\.namesSecretFile)
            .reduce(into: []) { files, setting in
                guard !files.contains(where: { $0.setting == setting }), let path = string(setting.key) else { return }
                files.append((setting, Self.expandingHome(path, home)))
            }
    }

    /// The texts of settings, or their defaults. Settings without a value are missing.
    ///
    /// - Throws: ``ConfigurationError`` if the file of a secret cannot be read.
    func texts(of settings: [SettingDeclaration]) throws -> [SettingDeclaration: String] {
        try settings.reduce(into: [:]) { texts, setting in texts[setting] = try text(of: setting)?.text }
    }

    /// The contents of the files that a service reads only at its start. Those that cannot be read are missing.
    func files(of settings: [SettingDeclaration]) throws -> [SettingDeclaration: Data] {
        try settings.filter(\.isReadAtStart).reduce(into: [:]) { files, setting in
            guard let path = try text(of: setting)?.text else { return }
            files[setting] = try? Data(contentsOf: URL(filePath: Self.expandingHome(path, home)))
        }
    }

    /// - Returns: The value, and the name of the setting that it comes from.
    private func read<Value>(_ setting: Setting<Value>) throws -> (value: Value, name: String)? {
        let declaration = setting.declaration
        guard let (text, name) = try text(of: declaration) else { return nil }
        return (try setting.value(of: Self.expandingHome(text, home), from: name), name)
    }

    /// - Returns: The text of a setting, and the name of the setting that contains it.
    private func text(of declaration: SettingDeclaration) throws -> (text: String, name: String)? {
        let written = string(declaration.key)
        if let file = declaration.file, let path = string(file.key) {
            guard written == nil else {
                throw ConfigurationError("\(declaration.name) and \(file.name) are both set; set one of them alone")
            }
            return (try secret(in: Self.expandingHome(path, home), named: file), file.name)
        }
        if let written { return (written, declaration.name) }
        if let other = declaration.follows, let text = string(other) { return (text, SettingDeclaration.name(of: other)) }
        return try declaration.fallback.map { (try resolve($0), declaration.name) }
    }

    /// Reads a file that contains only a secret. A line break at its end is ignored.
    private func secret(in path: String, named file: SettingDeclaration) throws -> String {
        let text = try OperatorFile.text(at: path, of: file)
        return String(text.dropLast(text.last?.isNewline == true ? 1 : 0))
    }

    private func string(_ key: String) -> String? {
        reader.string(forKey: ConfigKey(key))
    }

    /// Replaces `$NAME` by the value of that folder setting.
    private func resolve(_ fallback: String) throws -> String {
        for setting in [Setting<String>.stateDirectory, .runtimeDirectory] {
            let parts = fallback.split(separator: "$" + setting.declaration.name, maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { return try parts[0] + value(setting) + parts[1] }
        }
        return fallback
    }

    private static func expandingHome(_ text: String, _ home: String) -> String {
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

    /// Ended settings: what to use instead, and why. Services share one settings file, so only the service that used a setting refuses it.
    private static let ended = [
        "MSI_FCM_SERVER_KEY_FILE": (
            instead: Setting.fcmServiceAccountFile.declaration,
            reason: "Google ended FCM's legacy API and its server keys in 2024; name a service account's key file in "
                + "MSI_FCM_SERVICE_ACCOUNT_FILE instead"
        )
    ]

    /// - Parameters:
    ///   - accepted: The settings of the service.
    ///   - refuse: Gets an error for each name that looks like a mistyped setting, or has ended and was one of the service.
    /// - Returns: A warning for each other name that is not a setting.
    private static func unknownNames<Failure: Error>(
        _ names: some Sequence<String>, in place: String, _ accepted: [SettingDeclaration],
        refuse: (ConfigurationError) throws(Failure) -> Void
    ) throws(Failure) -> [String] {
        let known = SettingDeclaration.all.map(\.name)
        var warnings: [String] = []
        for name in names.sorted() where !known.contains(name) {
            let problem = "\(name.prefix(80)) in \(place) is not a setting"
            if let (instead, reason) = ended[name] {
                guard accepted.contains(instead) else {
                    warnings.append("\(problem): \(reason)")
                    continue
                }
                try refuse(ConfigurationError("\(problem): \(reason)"))
            } else if let meant = nearest(to: name, among: known) {
                try refuse(ConfigurationError("\(problem); did you mean \(meant)?"))
            } else {
                warnings.append("\(problem) of this version, and is ignored")
            }
        }
        return warnings
    }

    /// The known name within one or two typing mistakes of another name.
    private static func nearest(to name: String, among known: [String]) -> String? {
        known.filter { abs($0.count - name.count) <= 2 }.map { (name: $0, distance: editDistance(name, $0)) }
            .filter { $0.distance <= 2 }.min { $0.distance < $1.distance }?.name
    }
}

/// An invalid setting that stops the start: its name and the problem.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// The number of typing mistakes between two texts: a character omitted, added or replaced, or two neighbours swapped (the
/// optimal string alignment distance).
package func editDistance(_ one: String, _ other: String) -> Int {
    let (one, other) = (Array(one), Array(other))
    // The distances of a prefix of `one` to each prefix of `other`, and those of the two shorter prefixes.
    var (beforeLast, last) = ([Int](), Array(0...other.count))
    for row in one.indices {
        var current = [row + 1]
        for column in other.indices {
            var distance = min(
                last[column + 1] + 1, current[column] + 1, last[column] + (one[row] == other[column] ? 0 : 1))
            if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                distance = min(distance, beforeLast[column - 1] + 1)
            }
            current.append(distance)
        }
        (beforeLast, last) = (last, current)
    }
    return last[other.count]
}

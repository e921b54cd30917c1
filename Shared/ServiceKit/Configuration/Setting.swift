import Bus
import Base

/// One setting of the product: its name, purpose, expected values and default.
///
/// A setting has one name, written in three ways: `MSI_GATEWAY_PORT` in the environment and in the configuration file,
/// `--gateway-port` as a flag. A secret has no flag.
package struct Setting<Value: Sendable>: Sendable {
    /// The setting's name and documentation.
    package private(set) var declaration: SettingDeclaration
    /// Parses the operator's text; `nil` if it does not have the expected form.
    let parse: @Sendable (String) -> Value?
    /// Throws the problem of a parsed value, if it has one.
    let check: @Sendable (Value) throws -> Void

    package init(
        _ key: String, _ summary: String, expected: String, default fallback: String? = nil, follows: String? = nil,
        isSecret: Bool = false, namesSecretFile: Bool = false,
        check: @escaping @Sendable (Value) throws -> Void = { _ in }, parse: @escaping @Sendable (String) -> Value?
    ) {
        declaration = SettingDeclaration(
            key: key, summary: summary, expected: expected, fallback: fallback, follows: follows, isSecret: isSecret,
            namesSecretFile: namesSecretFile
        ) { text, name in
            _ = try Self.read(text, of: name, expected: expected, isSecret: isSecret, check: check, parse: parse)
        }
        self.check = check
        self.parse = parse
    }

    /// This setting, marked as one that changes while a service runs: see ``SettingValues/live(_:)``.
    func changingLive() -> Setting {
        var setting = self
        setting.declaration.isLive = true
        return setting
    }

    /// This setting, marked as the name of a file that a service reads only at its start.
    func readAtStart() -> Setting {
        var setting = self
        setting.declaration.isReadAtStart = true
        return setting
    }

    /// Reads an operator's text.
    ///
    /// - Parameter name: The name of the setting that has it, for the error.
    /// - Throws: ``ConfigurationError``.
    func value(of text: String, from name: String) throws -> Value {
        try Self.read(
            text, of: name, expected: declaration.expected, isSecret: declaration.isSecret, check: check, parse: parse)
    }

    private static func read(
        _ text: String, of name: String, expected: String, isSecret: Bool, check: (Value) throws -> Void,
        parse: (String) -> Value?
    ) throws -> Value {
        guard let value = parse(text) else {
            let found = isSecret ? "something else" : "\"\(text.prefix(80))\""
            throw ConfigurationError("\(name): expected \(expected), found \(found)")
        }
        do {
            try check(value)
        } catch {
            throw ConfigurationError("\(name): \(error)")
        }
        return value
    }
}

/// A setting without its type, for `--help`, `--check-config` and the check for unknown names. Two with the same key are equal.
package struct SettingDeclaration: Sendable {
    /// Words joined by dots, such as `gateway.port`.
    package let key: String
    /// One sentence for the operator.
    package let summary: String
    /// The expected form of a value, such as `a port from 0 to 65535`.
    package let expected: String
    /// The default. `$NAME` stands for another setting's value. A setting without a default is required or optional, as its
    /// reader decides.
    package let fallback: String?
    /// The key of another setting, whose value overrides the default.
    package let follows: String?
    /// Whether the value is secret. No error shows it, and it has no flag, since every list of processes shows flags. A file may
    /// contain it, see ``file``.
    package let isSecret: Bool
    /// Whether the value is a file with a secret, which a service manager can hand over as a credential.
    package let namesSecretFile: Bool
    /// Whether a running service takes over a new value when it reads its settings again.
    package fileprivate(set) var isLive = false
    /// Whether the value is a file that a service reads only at its start, so that a change of it needs a restart.
    fileprivate(set) var isReadAtStart = false
    /// Checks a text, which comes from the setting with the given name.
    let check: @Sendable (_ text: String, _ name: String) throws -> Void

    /// `MSI_GATEWAY_PORT`.
    package var name: String { Self.name(of: key) }

    /// The name of the setting that ``follows`` names.
    package var followedName: String? { follows.map(Self.name) }

    /// `--gateway-port`.
    package var flag: String {
        "--" + key.map { $0 == "." ? "-" : String($0) }.joined()
    }

    /// The setting that names a file containing this setting's value; `nil` if the value is not a secret.
    package var file: SettingDeclaration? {
        guard isSecret else { return nil }
        return SettingDeclaration(
            key: key + ".file", summary: "A file that holds the value of \(name), such as a credential of systemd.",
            expected: "a file", fallback: nil, follows: nil, isSecret: false, namesSecretFile: true
        ) { text, name in
            guard !text.isEmpty else { throw ConfigurationError("\(name): expected a file, found nothing") }
        }
    }

    static func name(of key: String) -> String {
        "MSI_" + key.uppercased().map { $0 == "." ? "_" : String($0) }.joined()
    }
}

extension SettingDeclaration: Hashable {
    package static func == (one: SettingDeclaration, other: SettingDeclaration) -> Bool { one.key == other.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension Setting where Value == String {
    /// The endpoint where a service listens.
    static func busEndpoint(_ key: String, _ summary: String, default fallback: String) -> Setting {
        Setting(
            key, summary, expected: "a bus endpoint, ipc://PATH or tcp://ADDRESS:PORT", default: fallback,
            check: { _ = try Endpoint($0) }, parse: { $0.isEmpty ? nil : $0 })
    }

    /// Any text except an empty one.
    static func text(_ key: String, _ summary: String, expected: String, default fallback: String? = nil) -> Setting {
        Setting(key, summary, expected: expected, default: fallback) { $0.isEmpty ? nil : $0 }
    }

    /// A file with a secret.
    static func secretFile(_ key: String, _ summary: String) -> Setting {
        Setting(key, summary, expected: "a file", namesSecretFile: true) { $0.isEmpty ? nil : $0 }
    }

    /// One of a few words.
    static func choice(_ key: String, _ summary: String, of words: [String], default fallback: String) -> Setting {
        Setting(key, summary, expected: "one of " + words.joined(separator: ", "), default: fallback) {
            words.contains($0) ? $0 : nil
        }
    }
}

extension Setting where Value == [String] {
    /// The endpoints of services, separated by commas.
    static func busEndpoints(_ key: String, _ summary: String, default fallback: String, follows: String) -> Setting {
        Setting(
            key, summary,
            expected:
                "bus endpoints separated by commas, ipc://PATH or tcp://HOST:PORT; a * in the file name "
                + "of a PATH stands for every instance on this machine, found while it runs",
            default: fallback, follows: follows, check: { if !$0.isEmpty { _ = try ClientEndpoints($0) } }
        ) { text in
            let items = items(of: text)
            return items.contains("") ? nil : items
        }
    }

    static func items(of text: String) -> [String] {
        text.split(separator: ",").map { $0.trimming(while: { $0 == " " }) }
    }
}

extension Setting where Value == Int {
    /// A whole number within a range.
    static func integer(_ key: String, _ summary: String, in range: ClosedRange<Int>, default fallback: Int) -> Setting {
        Setting(
            key, summary, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)", default: String(fallback)
        ) { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A TCP port; 0 lets the system choose.
    static func port(_ key: String, _ summary: String, default fallback: Int) -> Setting {
        integer(key, summary, in: 0...65_535, default: fallback)
    }
}

extension Setting where Value == Seconds {
    /// A number of seconds within a range.
    static func seconds(
        _ key: String, _ summary: String, in range: ClosedRange<Seconds>, default fallback: Seconds
    ) -> Setting {
        Setting(
            key, summary, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)", default: "\(fallback)"
        ) { text in
            Int64(text).map(Seconds.init(rawValue:)).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension Setting where Value == Int64 {
    /// An amount of storage.
    ///
    /// - Parameter range: The bounds in the operator's form, such as `1KiB`.
    static func bytes(
        _ key: String, _ summary: String, in range: (min: String, max: String)? = nil, default fallback: String? = nil
    ) -> Setting {
        let form = "a number of bytes, or one with KiB, MiB, GiB or TiB, such as \(fallback ?? "20GiB")"
        return Setting(
            key, summary, expected: range.map { "\(form), from \($0.min) to \($0.max)" } ?? form, default: fallback
        ) { text in
            guard let bytes = amount(text) else { return nil }
            guard let range, let min = amount(range.min), let max = amount(range.max) else { return bytes }
            return (min...max).contains(bytes) ? bytes : nil
        }
    }

    private static func amount(_ text: String) -> Int64? {
        guard let match = text.wholeMatch(of: /([0-9]+)(KiB|MiB|GiB|TiB)?/), let number = Int64(match.1), number > 0 else {
            return nil
        }
        let powers: [Substring: Int64] = ["KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4]
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: 1 << (10 * (match.2.flatMap { powers[$0] } ?? 0)))
        return isTooLarge ? nil : bytes
    }
}

extension StringProtocol {
    /// The text without the characters at its ends that satisfy a condition.
    fileprivate func trimming(while condition: (Character) -> Bool) -> String {
        String(drop(while: condition).reversed().drop(while: condition).reversed())
    }
}

/// The text of `--help`: every setting of a program with its three spellings and its default.
struct SettingHelp: CustomStringConvertible {
    let program: String
    let summary: String
    let settings: [SettingDeclaration]

    var description: String {
        var lines = [
            "\(program): \(summary)", "",
            "Settings, as a flag, or in the environment or the configuration file by the name in brackets:", "",
        ]
        for setting in settings {
            lines.append(setting.isSecret ? "  [\(setting.name)]" : "  \(setting.flag) [\(setting.name)]")
            let fallback = setting.fallback.map { $0.isEmpty ? " Default: none." : " Default: \($0)." } ?? ""
            let live = setting.isLive ? " A reload changes it." : ""
            lines.append("      \(setting.summary) It is \(setting.expected).\(fallback)\(live)")
        }
        lines += [
            "",
            "A reload (SIGHUP, systemctl reload) reads the configuration file again; the log says which changes need a restart.",
        ]
        lines += ["", "--check-config checks the settings and starts nothing. --help prints this, --version the version."]
        return lines.joined(separator: "\n")
    }
}

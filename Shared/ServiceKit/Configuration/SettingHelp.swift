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

import FoundationEssentials
import Glibc
import Subprocess
import SystemPackage

/// A file with settings for the environment of units (`EnvironmentFile=` in systemd.exec(5)).
struct EnvironmentFile: Sendable {
    let path: String
    /// The unit that reads it; `nil` for all of them.
    let unit: String?
    let values: [String: String]

    /// Reads a file by systemd's rules, with the program that reads it for the commands.
    ///
    /// - Returns: `nil` if it is not there, or this user cannot read it.
    init?(_ path: String, of unit: String? = nil, reader: String) async {
        guard access(path, R_OK) == 0,
            let result = try? await Subprocess.run(
                .path(FilePath(reader)), arguments: [path], output: .string(limit: 1 << 20), error: .discarded),
            result.terminationStatus.isSuccess
        else { return nil }
        self.path = path
        self.unit = unit
        values = Self.parse(result.standardOutput)
    }

    /// Lines for a shell: `[ -n "${MSI_A+set}" ] || export MSI_A='value'`.
    static func parse(_ output: String) -> [String: String] {
        let start = " ] || export "
        return output.split(separator: "\n[").reduce(into: [:]) { values, statement in
            guard let range = statement.firstRange(of: start) else { return }
            let parts = statement[range.upperBound...].split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { return }
            let quoted = parts[1].last == "\n" ? parts[1].dropLast() : parts[1]
            values[String(parts[0])] = String(quoted.dropFirst().dropLast().replacing("'\\''", with: "'"))
        }
    }
}

extension Installation {
    /// The files of the units' environment, in the order in which systemd reads them: a later one overrides an earlier one. Empty without
    /// units.
    func environmentFiles() async -> [EnvironmentFile] {
        guard layout == .packages else { return [] }
        let (folder, reader) = ("/etc/msi", executables + "/environment-file")
        var files: [EnvironmentFile] = []
        for path in [executables + Self.packagesFile, folder + "/cluster.env"] {
            if let file = await EnvironmentFile(path, reader: reader) { files.append(file) }
        }
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
        for name in names where name.hasPrefix("msi-") && name.hasSuffix(".env") {
            let unit = name.dropLast(".env".count) + ".service"
            if let file = await EnvironmentFile("\(folder)/\(name)", of: String(unit), reader: reader) { files.append(file) }
        }
        return files
    }

    /// Where the setting is that a sentence names first; `nil` if that is not known.
    func place(ofSettingIn sentence: String, configurationFile: String?) -> String? {
        guard let name = sentence.firstMatch(of: /MSI_[A-Z0-9_]+/).map({ String($0.output) }) else { return nil }
        let units = ((try? FileManager.default.contentsOfDirectory(atPath: "/etc/msi")) ?? [])
            .filter { $0.hasPrefix("msi-") && $0.hasSuffix(".env") }.sorted().map { "/etc/msi/" + $0 }
        let files = (layout == .packages ? ["/etc/msi/cluster.env"] + units : []) + [configurationFile].compactMap(\.self)
        let found = files.filter { path in
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return text.split(whereSeparator: \.isNewline).contains { line in
                line.prefix { $0 != "=" }.filter { !$0.isWhitespace } == name
            }
        }
        if !found.isEmpty { return found.joined(separator: " or ") }
        return layout == .build && environment[name] != nil ? "the environment" : nil
    }
}

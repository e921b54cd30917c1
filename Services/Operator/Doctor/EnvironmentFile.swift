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
        let quote = UInt8(ascii: "'")
        var values: [String: String] = [:]
        var rest = Array(output.utf8)[...]
        while let start = rest.firstRange(of: Array(" ] || export ".utf8)) {
            rest = rest[start.upperBound...]
            guard let equals = rest.firstRange(of: Array("='".utf8)) else { break }
            let name = String(decoding: rest[..<equals.lowerBound], as: UTF8.self)
            rest = rest[equals.upperBound...]
            var value: [UInt8] = []
            while let end = rest.firstIndex(of: quote) {
                value += rest[..<end]
                rest = rest[(end + 1)...]
                // A quotation mark of the value is written as '\''.
                guard rest.starts(with: Array("\\''".utf8)) else { break }
                value.append(quote)
                rest = rest.dropFirst(3)
            }
            values[name] = String(decoding: value, as: UTF8.self)
        }
        return values
    }
}

extension Installation {
    private var environmentReader: String { executables + "/environment-file" }

    /// - Returns: `nil` if it is not there, or this user cannot read it.
    func environmentFile(_ path: String, of unit: String?) async -> EnvironmentFile? {
        await EnvironmentFile(path, of: unit, reader: environmentReader)
    }

    /// The files of the units' environment, in the order in which systemd reads them: a later one overrides an earlier one. Empty without
    /// units.
    func environmentFiles() async -> [EnvironmentFile] {
        guard layout == .packages else { return [] }
        let folder = "/etc/msi"
        var files: [EnvironmentFile] = []
        for path in [executables + Self.packagesFile, folder + "/cluster.env"] {
            if let file = await environmentFile(path, of: nil) { files.append(file) }
        }
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
        for name in names where name.hasPrefix("msi-") && name.hasSuffix(".env") {
            let unit = String(name.dropLast(".env".count)) + ".service"
            if let file = await environmentFile("\(folder)/\(name)", of: unit) { files.append(file) }
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

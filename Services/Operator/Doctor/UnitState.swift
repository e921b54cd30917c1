import Subprocess

/// What systemd says about a unit that runs.
struct UnitState: Equatable, Sendable {
    /// What the service has told systemd about itself; `nil` if it has told nothing.
    let status: String?
    /// The names of the product's variables that lines `Environment=` and the manager's own environment give.
    let variables: Set<String>
    /// The files with variables.
    let files: [String]

    /// Whether a path of a file has wildcards.
    var hasFilePatterns: Bool { files.contains { $0.contains { "*?[".contains($0) } } }

    /// The states by the names of the units. Empty if systemd does not answer.
    static func all(of units: [String]) async -> [String: UnitState] {
        guard !units.isEmpty,
            let states = await output(["show", "--property=Id,StatusText,Environment,EnvironmentFiles"] + units),
            let manager = await output(["show-environment"])
        else { return [:] }
        return parse(states, manager: manager)
    }

    /// Whether a unit runs. Every user may ask.
    static func isActive(_ unit: String) async -> Bool { await output(["is-active", unit]) != nil }

    private static func output(_ arguments: [String]) async -> String? {
        let result = try? await Subprocess.run(
            .name("systemctl"), arguments: Arguments(arguments), output: .string(limit: 1 << 18), error: .discarded)
        return result?.terminationStatus.isSuccess == true ? result?.standardOutput : nil
    }

    /// Blocks of `Id=…` and the other properties, separated by empty lines.
    ///
    /// - Parameter manager: Lines `NAME=value`.
    static func parse(_ output: String, manager: String) -> [String: UnitState] {
        let shared = names(in: manager)
        return output.split(separator: "\n\n").reduce(into: [:]) { states, block in
            let lines = block.split(separator: "\n")
            func values(_ name: String) -> [String] {
                lines.filter { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
            }
            guard let id = values("Id").first else { return }
            // `/etc/msi/cluster.env (ignore_errors=yes)`
            let files = values("EnvironmentFiles").map { value in
                value.firstRange(of: " (ignore_errors=").map { String(value[..<$0.lowerBound]) } ?? value
            }
            states[id] = UnitState(
                status: values("StatusText").first { !$0.isEmpty },
                variables: values("Environment").reduce(into: shared) { $0.formUnion(names(in: $1)) }, files: files)
        }
    }

    /// The values may be in quotes, and may have such names too. One name too many only hides a finding.
    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /(MSI_[A-Za-z0-9_]+)=/).map { String($0.output.1) })
    }
}

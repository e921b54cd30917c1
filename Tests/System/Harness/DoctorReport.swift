import FoundationEssentials
import JSON
import TestSupport
import Testing

/// What `msi doctor` has found.
struct DoctorReport {
    let code: Int32?
    /// `[level, check, found, advice]`.
    let findings: [[String]]

    func has(_ level: String, _ check: String, _ words: String...) -> Bool {
        findings.contains { finding in
            finding[0] == level && finding[1] == check
                && words.allSatisfy { finding[2].contains($0) || finding[3].contains($0) }
        }
    }

    var failures: [[String]] { findings.filter { $0[0] == "failure" } }

    /// Runs `msi doctor`.
    ///
    /// - Parameter settings: Its environment.
    init(_ settings: [String: String]) async throws {
        let end = try await withProgram(
            BuiltProduct.path(of: "msi"), arguments: ["doctor", "--json"], environment: settings
        ) { try await $0.end() }
        let json = try JSONCoder.decode(JSONValue.self, from: Data(try #require(end.lines.last).utf8))
        let findings = json["findings"]?.elements ?? []
        self.init(
            code: end.exitCode,
            findings: findings.map { finding in ["level", "check", "found", "advice"].map { finding[$0]?.string ?? "" } })
    }

    init(of stack: Stack) async throws {
        try await self.init(stack.environment)
    }

    private init(code: Int32?, findings: [[String]]) {
        self.code = code
        self.findings = findings
    }
}

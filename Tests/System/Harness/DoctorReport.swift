import FoundationEssentials
import Base
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
        let end = try await runProgram("msi", ["doctor", "--json"], environment: settings)
        let json = try JSONCoder.decode(JSONValue.self, from: Data(try #require(end.lines.last).utf8))
        code = end.exitCode
        findings = (json["findings"]?.elements ?? []).map { finding in
            ["level", "check", "found", "advice"].map { finding[$0]?.string ?? "" }
        }
    }

    init(of stack: Stack) async throws {
        try await self.init(stack.environment)
    }
}

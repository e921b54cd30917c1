/// What a check of `msi doctor` has found.
struct Finding: Encodable, Hashable, Sendable {
    enum Level: String, Encodable, Sendable {
        case ok, warning, failure
    }

    /// What was checked, in the order of the report.
    enum Check: String, Encodable, Sendable {
        case installation, configuration, files, secrets, disk, clock
        case timeZones = "time zones"
        case descriptors, database, processes, sockets, versions
        case fcm = "FCM"
        case signIn = "sign-in"
        case gateway, certificate, metrics, canary
    }

    let check: Check
    let level: Level
    /// One sentence.
    let found: String
    /// What the operator can do about it; `nil` if nothing needs to be done.
    let advice: String?

    private init(_ check: Check, _ level: Level, _ found: String, _ advice: String?) {
        self.check = check
        self.level = level
        self.found = found
        self.advice = advice
    }

    static func ok(_ check: Check, _ found: String) -> Finding { Finding(check, .ok, found, nil) }

    /// Something works and may not stay so, or could not be checked.
    static func warning(_ check: Check, _ found: String, _ advice: String) -> Finding { Finding(check, .warning, found, advice) }

    /// Something does not work, or is open to others.
    static func failure(_ check: Check, _ found: String, _ advice: String) -> Finding { Finding(check, .failure, found, advice) }
}

extension Finding: CustomStringConvertible {
    var description: String {
        let head = Self.padded(level.rawValue, 9) + Self.padded(check.rawValue, 15) + found.withoutControlCharacters
        return head + (advice.map { "\n" + String(repeating: " ", count: 9) + "→ " + $0.withoutControlCharacters } ?? "")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

/// All findings of a run, as `--json` prints them.
struct FindingReport: Encodable, Sendable {
    let findings: [Finding]
    let failures: Int
    let warnings: Int

    init(_ findings: [Finding]) {
        self.findings = findings
        failures = findings.count { $0.level == .failure }
        warnings = findings.count { $0.level == .warning }
    }

    /// The last line for a person.
    var summary: String {
        func count(_ number: Int, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }
        let rest = findings.count - failures - warnings
        return "\(count(failures, "failure")), \(count(warnings, "warning")), \(rest) ok"
    }
}

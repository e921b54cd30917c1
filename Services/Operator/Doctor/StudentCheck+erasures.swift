import AuditTrail
import Base
import Schemas
import ServiceKit

extension StudentCheck {
    /// An erasure is done within a minute if all services run.
    private static let maxWait = Milliseconds.seconds(300)

    /// - Parameters:
    ///   - logged: How many persons the log of this machine names; `nil` if the people service runs elsewhere.
    ///   - now: The time by which the erasures wait.
    static func findings(about erasures: ListErasures.Reply, logged: Int?, at now: UnixMilliseconds) -> [Finding] {
        let late = erasures.waiting.filter { $0.begun + maxWait < now }
        var findings: [Finding] = []
        if !late.isEmpty {
            let services = Set(late.flatMap(\.waiting)).sorted().joined(separator: ", ")
            findings.append(
                .failure(
                    .students, "erasures of persons have waited for \(services) for more than 5 minutes: \(late.count)",
                    "start these services; their logs say more; then msi account erased"))
        }
        if let logged, logged != erasures.erasedNames {
            findings.append(
                .warning(
                    .students,
                    "\(ErasureLog.name) has \(counted(logged, "erased person")), and the store \(erasures.erasedNames)",
                    "restart \(ServiceEntry.people.executable), which makes both the same"))
        }
        return findings
    }

    /// How many persons the log of this machine names.
    ///
    /// - Throws: ``ConfigurationError``, or ``ErasureLog/Failed``.
    func loggedErasures(_ endpoint: String) throws -> Int? {
        guard endpoint.hasPrefix("ipc://") else { return nil }
        return Set(try ErasureLog(stateDirectory: settings.value(.stateDirectory)).lines().map(\.digest)).count
    }
}

import FoundationEssentials
import Glibc
import Logging
import ServiceLifecycle

/// Tells the service manager that the service still works, as long as the service's ``SelfCheck`` succeeds. Without that the manager
/// restarts the service (`WatchdogSec=` in systemd.service(5), sd_watchdog_enabled(3)). What the check finds becomes part of the
/// ``ManagerStatus``.
struct Watchdog: Service {
    private let check: SelfCheckRun
    /// The time between two checks: a third of the manager's limit.
    private let period: Duration
    private let status: ManagerStatus
    private let logger: Logger

    init(_ check: SelfCheckRun, limit: Duration, status: ManagerStatus, logger: Logger) {
        self.check = check
        self.status = status
        period = limit / 3
        self.logger = logger
    }

    /// The manager's limit; `nil` if it does not watch this process.
    static func limit(in environment: [String: String] = ProcessInfo.processInfo.environment) -> Duration? {
        guard let limit = environment["WATCHDOG_USEC"].flatMap(Int64.init), limit > 0,
            environment["WATCHDOG_PID"].map({ $0 == "\(getpid())" }) ?? true
        else { return nil }
        return .microseconds(limit)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                var pause = period
                do {
                    status.checked(isAlive: true, trouble: try await check.state().trouble)
                } catch  where !Task.isCancelled {
                    logger.error("the service is stuck", metadata: ["error": "\(error)"])
                    status.checked(isAlive: false, trouble: "\(error)")
                    // The next try must come before the manager loses its patience.
                    pause = min(period, .seconds(1))
                } catch {
                    return
                }
                try? await Task.sleep(for: pause)
            }
        }
    }
}

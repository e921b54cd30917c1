import FoundationEssentials
import Glibc
import Logging
import ServiceLifecycle

/// Tells the service manager that the service still works, as long as the service's ``SelfCheck`` succeeds. Without that the manager
/// restarts the service (`WatchdogSec=` in systemd.service(5), sd_watchdog_enabled(3)).
struct Watchdog: Service {
    private let check: SelfCheckRun
    /// The time between two checks: a third of the manager's limit.
    private let period: Duration
    private let logger: Logger

    init(_ check: SelfCheckRun, limit: Duration, logger: Logger) {
        self.check = check
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
                    ServiceManager.notify("WATCHDOG=1\nSTATUS=\(try await check.state().line)")
                } catch  where !Task.isCancelled {
                    logger.error("the service is stuck", metadata: ["error": "\(error)"])
                    ServiceManager.notify("STATUS=\(error)")
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

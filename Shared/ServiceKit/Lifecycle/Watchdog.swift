import FoundationEssentials
import Glibc
import Logging
import ServiceLifecycle

/// Tells the service manager that the service still works, as long as the service's ``SelfCheck`` succeeds. Without that the manager
/// restarts the service (`WatchdogSec=` in systemd.service(5), sd_watchdog_enabled(3)).
struct Watchdog: Service {
    private let check: SelfCheck
    /// The time between two checks: a third of the manager's limit.
    private let period: Duration
    private let logger: Logger

    /// - Returns: `nil` if the manager does not watch this process.
    init?(_ check: SelfCheck, logger: Logger, environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let limit = environment["WATCHDOG_USEC"].flatMap(Int64.init), limit > 0,
            environment["WATCHDOG_PID"].map({ $0 == "\(getpid())" }) ?? true
        else { return nil }
        self.check = check
        period = .microseconds(limit / 3)
        self.logger = logger
    }

    func run() async throws {
        let check = try check.start()
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                var pause = period
                do {
                    ServiceManager.notify("WATCHDOG=1\nSTATUS=\(try await check().line)")
                } catch  where !Task.isCancelled {
                    logger.error("the service does not answer itself", metadata: ["error": "\(error)"])
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

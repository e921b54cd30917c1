import FoundationEssentials
import Glibc
import Logging
import Schemas
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The manager that started this process: systemd or `msi up`. It listens on the datagram socket `NOTIFY_SOCKET` (sd_notify(3)).
enum ServiceManager {
    /// The time of the clock that the manager compares (`MONOTONIC_USEC` in sd_notify(3)).
    static var monotonicMicroseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// Sends one notification, such as `READY=1`. Has no effect without a manager, or if the manager has ended.
    static func notify(_ state: String) {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"], var address = sockaddr_un(path: path) else {
            return
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count + (path.hasPrefix("@") ? 0 : 1))
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { socketAddress in
                _ = sendto(descriptor, state, state.utf8.count, Int32(MSG_NOSIGNAL), socketAddress, length)
            }
        }
    }
}

extension sockaddr_un {
    /// The address of a Unix socket; a leading `@` means Linux's abstract namespace. `nil` if the path is too long.
    package init?(path: String) {
        self.init()
        sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: sun_path) else { return nil }
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &sun_path) { $0.copyBytes(from: bytes) }
    }
}

/// What a service tells its manager about itself: whether it is ready, and the text that `systemctl status` shows (`STATUS` in
/// sd_notify(3)).
///
/// The manager keeps only the last text. So the self-check's findings and the settings are in one text, and no other comes once
/// the service stops.
final class ManagerStatus: Sendable {
    private enum Phase {
        case starting
        case ready(SettingsStatus)
        case stopping
    }

    private struct State {
        var phase = Phase.starting
        /// What the last self-check has found; `nil` for nothing.
        var trouble: String?

        /// The line with the text; none before the service is ready, and when it stops.
        var lines: [String] {
            guard case .ready(let settings) = phase else { return [] }
            return ["STATUS=\(settings.text(after: trouble))"]
        }
    }

    private let state = Mutex(State())
    private let notify: @Sendable (String) -> Void

    /// - Parameter notify: Sends a notification to the manager.
    init(notify: @escaping @Sendable (String) -> Void = ServiceManager.notify) {
        self.notify = notify
    }

    /// The service is ready, or ready again after it has read its settings.
    ///
    /// - Parameter report: The outcome of the reload.
    func ready(_ settings: SettingsStatus, _ report: ReloadReport? = nil) {
        send { state in
            state.phase = .ready(settings)
            return ["READY=1"] + state.lines + (report.map { [$0.notification] } ?? [])
        }
    }

    /// The service reads its settings again.
    func reloading() {
        send { _ in ["RELOADING=1", "MONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)"] }
    }

    /// The service begins to stop.
    func stopping() {
        send { state in
            state.phase = .stopping
            return ["STOPPING=1", "STATUS=finishing what was accepted"]
        }
    }

    /// A self-check has ended.
    ///
    /// - Parameter trouble: What cannot be used; `nil` for nothing.
    func checked(isAlive: Bool, trouble: String?) {
        send { state in
            state.trouble = trouble
            return (isAlive ? ["WATCHDOG=1"] : []) + state.lines
        }
    }

    /// Sends under the lock, so that the manager gets the texts in the order of the changes.
    private func send(_ change: (inout State) -> [String]) {
        state.withLock { state in
            let lines = change(&state)
            if !lines.isEmpty { notify(lines.joined(separator: "\n")) }
        }
    }
}

/// Notifies the service manager when the service is ready, when it reads its settings again, and when it begins to stop.
struct ReadinessService: Service {
    let whenReady: @Sendable () async throws -> Void
    let readiness: MetricsServer.Readiness
    let status: ManagerStatus
    let reload: SettingsReload
    /// SIGHUP.
    let hangUps: UnixSignalsSequence
    let terminal: TerminalWatch
    let logger: Logger

    /// Returns when the service stops, or when its terminal is gone.
    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await whenReady()
                // A wait for a stream of events returns normally when it is cancelled.
                try Task.checkCancellation()
            }
        } catch is CancellationError {
            // The service was stopped before it was ready.
            return
        }
        readiness.isReady = true
        status.ready(reload.status)
        logger.info("ready")
        await cancelWhenGracefulShutdown {
            for await _ in hangUps {
                if terminal.isGone { break }
                status.reloading()
                let report = await reload.run()
                status.ready(reload.status, report)
            }
        }
        readiness.isReady = false
        status.stopping()
        logger.info("stopping")
    }
}

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
        await RepeatingService(every: period) {
            do {
                status.checked(isAlive: true, trouble: try await check.state().trouble)
            } catch  where !Task.isCancelled {
                logger.error("the service is stuck", metadata: ["error": "\(error)"])
                status.checked(isAlive: false, trouble: "\(error)")
                // The next try must come before the manager loses its patience.
                return .after(min(period, .seconds(1)))
            } catch {
                // The service stops.
            }
            return .periodic
        }.run()
    }
}

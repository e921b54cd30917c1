import Logging
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import ServiceKit

/// What the service manager learns from a service, and shows as its status.
@Suite("Notifications to the service manager", .timeLimit(.minutes(10)))
struct WatchdogTests {
    /// The manager's side: the fields of all notifications.
    private final class Manager: Sendable {
        private let received = Mutex<[String]>([])

        var fields: [String] { received.withLock(\.self) }
        var beats: Int { fields.count { $0 == "WATCHDOG=1" } }
        /// What `systemctl status` shows.
        var status: String? { fields.last { $0.hasPrefix("STATUS=") }.map { String($0.dropFirst("STATUS=".count)) } }

        func makeStatus() -> ManagerStatus {
            ManagerStatus { text in self.received.withLock { $0 += text.split(separator: "\n").map(String.init) } }
        }
    }

    private static let settings = SettingsStatus(read: 1_764_144_000_000, needingRestart: ["MSI_GATEWAY_PORT"])

    /// Runs a watchdog whose manager waits for 60 ms.
    private func withWatchdog(
        of step: @escaping @Sendable () async throws -> PartHealth, _ body: (Manager, ManagerStatus) async throws -> Void
    ) async throws {
        let manager = Manager()
        let status = manager.makeStatus()
        let check = try SelfCheckRun(SelfCheck { [SelfCheck.Step("part", run: step)] })
        let running = Task {
            try await Watchdog(check, limit: .milliseconds(60), status: status, logger: quietLogger).run()
        }
        try await perform {
            try await body(manager, status)
        } finally: {
            running.cancel()
            try await running.value
        }
    }

    @Test("The status keeps the settings while the watchdog is told that the service lives, and says nothing before it is ready")
    func settings() async throws {
        try await withWatchdog(of: { .ok }) { manager, status in
            try await eventually { manager.beats >= 2 }
            #expect(manager.status == nil)
            status.ready(Self.settings)
            let beats = manager.beats
            try await eventually { manager.beats >= beats + 2 }
            #expect(manager.status.flatMap { SettingsStatus($0) } == Self.settings)
            #expect(manager.status?.hasPrefix("ready; ") == true)
            status.stopping()
            let last = manager.beats
            try await eventually { manager.beats >= last + 2 }
            #expect(manager.status == "finishing what was accepted")
        }
    }

    @Test("A problem is in the status beside the settings, until it ends")
    func trouble() async throws {
        let health = Mutex(PartHealth.ok)
        try await withWatchdog(of: { health.withLock(\.self) }) { manager, status in
            status.ready(Self.settings)
            health.withLock { $0 = PartHealth(.unavailable, "the database\nis away") }
            try await eventually { manager.status?.hasPrefix("the database is away; settings read at ") == true }
            #expect(manager.status.flatMap { SettingsStatus($0) } == Self.settings)
            // A reload does not hide it.
            status.ready(Self.settings, ReloadReport())
            #expect(manager.status?.hasPrefix("the database is away; ") == true)
            health.withLock { $0 = .ok }
            try await eventually { manager.status?.hasPrefix("ready; ") == true }
        }
    }

    @Test("A stuck service is named in the status, and the watchdog is not told that it lives")
    func stuck() async throws {
        try await withWatchdog(of: { throw StuckService(parts: ["loop": PartHealth(.deadlineExceeded, "no answer")]) }) {
            manager, status in
            status.ready(Self.settings)
            try await eventually {
                manager.status?.hasPrefix("the service does not answer itself: loop; loop: no answer; settings ") == true
            }
            #expect(manager.beats == 0)
        }
    }

    @Test("A long problem leaves room for the settings in a notification, of which systemd takes 4096 bytes")
    func longTrouble() throws {
        let text = Self.settings.text(after: String(repeating: "x", count: 10_000))
        #expect(text.utf8.count < 1_000 && SettingsStatus(text) == Self.settings)
    }
}

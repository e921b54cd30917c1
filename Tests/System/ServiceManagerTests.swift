import FoundationEssentials
import Glibc
import Schemas
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// What systemd learns from a service, and shows in `systemctl status`.
    @Suite("A service manager", .timeLimit(.minutes(10)))
    struct ServiceManagerTests {
        @Test("The status says which settings a service works with as long as it runs, while the watchdog hears of it")
        func status() async throws {
            try await withTemporaryFolder { folder in
                let manager = try NotificationSocket(at: folder + "/notify")
                let file = folder + "/msi.env"
                try Data("MSI_LOG_LEVEL=info\n".utf8).write(to: URL(filePath: file))
                let settings = ["MSI_CONFIG_FILE": file, "NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "900000"]
                var fields: [String] = []
                func status() -> String? {
                    fields += manager.receiveAll().flatMap { $0.split(separator: "\n").map(String.init) }
                    return fields.last { $0.hasPrefix("STATUS=") }.map { String($0.dropFirst("STATUS=".count)) }
                }
                /// Waits for two of the watchdog's notifications after a field.
                func laterStatus(after field: String) async throws -> SettingsStatus? {
                    try await eventually("the watchdog's notifications after \(field)") {
                        _ = status()
                        guard let index = fields.lastIndex(of: field) else { return false }
                        return fields[index...].count { $0 == "WATCHDOG=1" } >= 2
                    }
                    return status().flatMap { SettingsStatus($0) }
                }
                try await withService("msi-cube", in: folder, settings: settings) { cube in
                    let first = try #require(await laterStatus(after: "READY=1"))
                    #expect(first.needingRestart == [] && first.mistake == nil)
                    try Data("MSI_LOG_LEVEL=info\nMSI_METRICS_PORT=9999\n".utf8).write(to: URL(filePath: file))
                    fields = []
                    cube.signal(SIGHUP)
                    let second = try #require(await laterStatus(after: "READY=1"))
                    #expect(second.needingRestart == ["MSI_METRICS_PORT"] && second.read >= first.read)
                    #expect(await cube.stop() == 0)
                    #expect(status() == "finishing what was accepted")
                }
            }
        }
    }
}

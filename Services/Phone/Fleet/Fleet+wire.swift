import FoundationEssentials
import Glibc
import Logging
import ServiceKit

extension ServicePlan {
    /// Descriptors beside the phones' connections to FCM: the connections to the gateway, files, and what a process always has.
    private static let otherDescriptors = 512

    /// Wires a fleet together.
    ///
    /// - Throws: ``ConfigurationError``, also if the process may not open a connection for each phone.
    static func fleet(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = wiring.settings
        let count = try settings.value(.fleetCount)
        try checkDescriptors(count)
        let gateway = try settings.optional(.gatewayURL) ?? "http://127.0.0.1:\(settings.value(.gatewayPort))"
        let emulator = EmulatorAccess(
            port: try settings.value(.fcmEmulatorPort), stateDirectory: try settings.value(.stateDirectory))
        // A stream for each phone, and the phones' requests.
        let (fcm, hub) = (Network(trusting: emulator.certificateFile, connections: count + 64), Network(connections: 64))
        let fleet = try Fleet(
            count: count, unsteady: min(count, try settings.value(.fleetUnsteady)),
            duration: try settings.value(.fleetSeconds), fcm: FCMConnection(url: emulator.url, network: fcm), gateway: gateway,
            hub: hub, logger: wiring.logger)
        return ServicePlan(
            services: [fleet], endsByItself: true,
            close: {
                try await fcm.close()
                try await hub.close()
                // The report is the last line: nothing is printed after it.
                if let report = fleet.report { print(try report.line) }
            },
            whenReady: { try await fleet.whenReady() })
    }

    private static func checkDescriptors(_ count: Int) throws {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        guard limit.rlim_cur < rlim_t(count + otherDescriptors) else { return }
        throw ConfigurationError(
            "\(Setting.fleetCount.declaration.name): \(count) phones need \(count + otherDescriptors) open files, and the system "
                + "allows \(limit.rlim_cur) (ulimit -n)")
    }
}

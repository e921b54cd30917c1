import Schemas
import ServiceKit

/// `GET /health` of the gateway, and whether it accepts this user's token.
struct GatewayCheck: Sendable {
    let installation: Installation
    let settings: SettingValues
    /// Whether a service answers on the bus.
    let isAnythingRunning: Bool
    /// The processes that a signal has stopped.
    let stopped: [RunningProcess]

    func findings() async throws -> [Finding] {
        if let process = stopped.first(where: { $0.service == .gateway }) { return [process.stoppedFinding(.gateway)] }
        var findings: [Finding] = []
        do {
            try await GatewayClient.with(settings, report: { _ in }) { gateway in
                findings = Self.findings(of: try await ProductStatus.read(from: gateway, settings))
            }
        } catch let failure as GatewayFailure {
            // While nothing runs, the check of the sockets says what to do.
            guard isAnythingRunning else { return [.warning(.gateway, "\(failure)", installation.start(.gateway))] }
            return [.failure(.gateway, "\(failure)", advice(for: failure))]
        } catch let failure as StartFailure {
            return [.failure(.gateway, "\(failure)", "run msi doctor as the owner of the file or as root")]
        }
        return findings
    }

    private func advice(for failure: GatewayFailure) -> String {
        switch failure.kind {
        case .notAllowed: "msi account token makes a new one"
        case .unreachable: installation.start(.gateway)
        case .refused, .notFound:
            "another program, or another installation, answers at this port: choose another one with "
                + Setting<Int>.gatewayPort.declaration.name
        }
    }

    private static func findings(of status: ProductStatus) -> [Finding] {
        let found = "\(status.gateway) answers: \(status.health.summary)"
        let health: Finding =
            switch status.health.status {
            case .ok: .ok(.gateway, found)
            case .degraded: .warning(.gateway, found, "messages are accepted; msi status says what is away")
            case .unavailable: .failure(.gateway, found, "messages are not accepted; msi status says what is away")
            }
        guard let problem = status.messagesProblem, status.health.status != .unavailable else { return [health] }
        return [
            health, .warning(.gateway, "the token of this user cannot be used: \(problem)", "msi account token makes a new one"),
        ]
    }
}

import AsyncHTTPClient
import FoundationEssentials
import JSON
import NIOCore
import NIOHTTP1
import Schemas
import ServiceKit

/// `/readyz` of each running service that has a port for metrics.
struct MetricsCheck: Sendable {
    private let processes: [RunningProcess]
    /// Whether the configuration file gives all services the same port.
    private let isShared: Bool

    /// - Throws: ``ConfigurationError``.
    init(processes: [RunningProcess], installation: Installation, settings: SettingValues) throws {
        self.processes = processes
        // msi up counts on from it.
        isShared = try installation.layout == .packages && settings.optional(.metricsPort) ?? 0 > 0
    }

    func findings() async -> [Finding] {
        let withPort = processes.filter { ($0.metricsPort ?? 0) > 0 }
        var findings: [Finding] = []
        if isShared {
            findings.append(
                .failure(
                    .metrics,
                    "\(Setting<Int>.metricsPort.declaration.name) in the configuration file gives all services the same port",
                    "remove it there, and give each service its own in a drop-in: /usr/share/doc/msi-common/examples/metrics.conf"
                ))
        }
        let answers = await withTaskGroup(of: (Int32, Finding).self) { group in
            for process in withPort where !process.isStopped { group.addTask { (process.id, await readyz(of: process)) } }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return findings + withPort.compactMap { answers[$0.id] }
    }

    private func readyz(of process: RunningProcess) async -> Finding {
        let url = "http://127.0.0.1:\(process.metricsPort ?? 0)/readyz"
        let name = process.service.executable
        do {
            let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
            let body = Data(try await response.body.collect(upTo: 1 << 20).readableBytesView)
            if response.status == .ok { return .ok(.metrics, "\(name): \(url) says that it is ready") }
            let reason = (try? JSONCoder.decode(PartHealth.self, from: body))?.message ?? "the status is \(response.status.code)"
            return .failure(
                .metrics, "\(name): \(url) says that it is not ready: \(reason)", "see MSINotReady in deploy/monitoring/README.md"
            )
        } catch {
            return .failure(
                .metrics, "\(name): \(url) does not answer",
                "does another process have the port? In systemd a unit with metrics needs the drop-in metrics.conf")
        }
    }
}

import CoreMetrics
import HTTPRouting
import HTTPTypes
import Hummingbird
import Instruments
import JSON
import Logging
import Schemas
import ServiceLifecycle
import Synchronization

/// The HTTP server for a monitoring system, on a port of this machine only: `/metrics` in Prometheus's text format, `/livez` and
/// `/readyz`. It runs if `MSI_METRICS_PORT` is set, on the ``HealthThread``: it answers while the rest of the process is stuck.
struct MetricsServer: Service {
    /// What the service has told: `false` before it is ready, and when it stops.
    final class Readiness: Sendable {
        private let value = Mutex(false)

        var isReady: Bool {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    let service: String
    let port: Int
    let registry: MetricRegistry
    let readiness: Readiness
    let plan: ServicePlan
    /// `nil` for a service without a ``SelfCheck``.
    let check: SelfCheckRun?
    let logger: Logger

    func run() async throws {
        try await withTaskExecutorPreference(HealthThread.executor) { try await serve() }
    }

    private func serve() async throws {
        let process = ProcessMetrics(of: service, in: registry)
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.get("metrics") { [registry, plan, check, readiness] _, _ in
            process.collect()
            let state = await Self.state(check, readiness)
            Instrument.ready.gauge().set(state.status == .ok ? 1 : 0)
            for part in [ServiceHealth.store, ServiceHealth.storage] {
                Instrument.storeHealthy.gauge(["part": part]).set(state.isWell(part) ? 1 : 0)
            }
            await plan.collectMetrics()
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: .init(byteBuffer: .init(string: MetricText(registry.all).text)))
        }
        router.get("livez") { [check] _, _ in try await Self.answer(check, isReady: true) { _ in true } }
        router.get("readyz") { [check, readiness] _, _ in
            try await Self.answer(check, isReady: readiness.isReady) { $0.status == .ok }
        }
        var quiet = logger
        quiet.logLevel = .notice
        let application = Application(
            router: router, server: .http1Connections,
            configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: nil),
            onServerRunning: { [logger] channel in
                logger.info("metrics", metadata: ["url": "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/metrics"])
            }, eventLoopGroupProvider: .shared(HealthThread.group), logger: quiet)
        try await ListeningService(application, scheme: "http", port: port, of: .metricsPort).run()
    }

    private static func state(_ check: SelfCheckRun?, _ readiness: Readiness) async -> PartHealth {
        guard readiness.isReady else { return PartHealth(.unavailable) }
        do {
            return try await check?.state() ?? .ok
        } catch {
            return (error as? StuckService)?.health ?? PartHealth(.unavailable)
        }
    }

    /// 200 or 503 with the service's state as JSON.
    ///
    /// - Parameter isGood: Whether a state that the check has found is good enough.
    private static func answer(
        _ check: SelfCheckRun?, isReady: Bool, _ isGood: (PartHealth) -> Bool
    ) async throws -> Response {
        let state: PartHealth
        do {
            state = isReady ? try await check?.state() ?? .ok : PartHealth(.unavailable, "the service is starting or stopping")
        } catch let stuck as StuckService {
            return try response(.serviceUnavailable, stuck.health)
        }
        return try response(isReady && isGood(state) ? .ok : .serviceUnavailable, state)
    }

    private static func response(_ status: HTTPResponse.Status, _ state: PartHealth) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: .init(bytes: try JSONCoder.encode(state))))
    }
}

extension PartHealth {
    /// Whether every part with a name, at any depth, can do its work.
    fileprivate func isWell(_ name: String) -> Bool {
        parts.allSatisfy { $0.key == name ? $0.value.isWell : $0.value.isWell(name) }
    }
}

import CoreMetrics
import HTTPRouting
import HTTPTypes
import Hummingbird
import Instruments
import Base
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

/// Metrics in Prometheus's text format, version 0.0.4.
struct MetricText {
    private(set) var text = ""

    init(_ families: [MetricRegistry.Family]) {
        for family in families { append(family) }
    }

    private mutating func append(_ family: MetricRegistry.Family) {
        let name = family.instrument.name
        text += "# HELP \(name) \(family.instrument.help)\n# TYPE \(name) \(Self.type(of: family.instrument.kind))\n"
        for (_, (labels, series)) in family.series.sorted(by: { $0.key < $1.key }) {
            switch series {
            case .counter(let series): line(name, labels, series.count)
            case .gauge(let series): line(name, labels, series.current)
            case .histogram(let series): lines(name, labels, series)
            }
        }
    }

    private mutating func lines(_ name: String, _ labels: MetricRegistry.Labels, _ series: HistogramSeries) {
        let recorded = series.recorded
        var count = 0
        for (bound, values) in zip(series.bounds.map(Self.number) + ["+Inf"], recorded.counts) {
            count += values
            line(name + "_bucket", labels + [("le", bound)], Double(count))
        }
        line(name + "_sum", labels, recorded.sum)
        line(name + "_count", labels, Double(count))
    }

    private mutating func line(_ name: String, _ labels: MetricRegistry.Labels, _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
        }
        text += " \(Self.number(value))\n"
    }

    private static func type(of kind: Instrument.Kind) -> String {
        switch kind {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }

    private static func escaped(_ value: String) -> String {
        value.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n", "\r\n": text += "\\n"
            default: text.append(character)
            }
        }
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        guard value == value.rounded(), abs(value) < 1e15 else { return "\(value)" }
        return "\(Int64(value))"
    }
}

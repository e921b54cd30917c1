import CoreMetrics
import HTTPTypes
import Hummingbird
import Instruments
import Synchronization

/// Counts the gateway's answers, and measures the time to their heads.
final class RequestInstruments: Sendable {
    private struct Kind: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    private let series = Mutex<[Kind: (count: Counter, duration: CoreMetrics.Timer)]>([:])

    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .delete, .options]

    /// - Returns: `nil` if the process has no port for metrics.
    init?() {
        guard !(MetricsSystem.factory is NOOPMetricsHandler) else { return nil }
    }

    /// What Hummingbird says instead of a route for a path that has none.
    private static let noRoute = "NotFound"

    /// - Parameter route: The path of the route; `nil` if the request was refused before one was searched.
    func record(_ method: HTTPRequest.Method, route: String?, _ status: HTTPResponse.Status, since start: ContinuousClock.Instant)
    {
        // A client chooses the method and the path, so only known ones are labels.
        let kind = Kind(
            method: Self.methods.contains(method) ? method.rawValue : "other",
            route: route.flatMap { $0 == Self.noRoute ? nil : $0 } ?? "none", status: status.code)
        let (count, duration) = series.withLock { series in
            if let known = series[kind] { return known }
            let made = (
                Instrument.httpRequests.counter(["method": kind.method, "route": kind.route, "status": "\(kind.status)"]),
                Instrument.httpRequestDuration.timer(["method": kind.method, "route": kind.route])
            )
            series[kind] = made
            return made
        }
        count.increment()
        duration.record(since: start)
    }
}

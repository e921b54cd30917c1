import CoreMetrics
import Instruments
import Schemas

/// How metrics and blocks name push services: by the host, or by the domain that its hosts have in common. So there are few names,
/// however many hosts strangers invent.
struct PushServiceLabels: Sendable {
    private let hosts: Set<String>
    private let domains: [String]

    /// What a host is named that neither list has.
    private static let other = "other"

    init(hosts: [String], domains: [String]) {
        self.hosts = Set(hosts)
        self.domains = domains
    }

    var all: [String] { hosts.union(domains).sorted() }

    /// - Parameter host: With the port if it is not the default one.
    func label(of host: String) -> String {
        if hosts.contains(host) { return host }
        return domains.first { host.hasSuffix("." + $0) } ?? Self.other
    }
}

/// Counts the outcomes of pushes.
struct CountedPushes: PushSender {
    private let sender: any PushSender
    private let labels: PushServiceLabels

    private static let accepted = "ok"

    private struct Outcome: Hashable {
        let origin: String
        let code: String
    }

    init(_ sender: any PushSender, labels: PushServiceLabels) {
        self.sender = sender
        self.labels = labels
        // The series are there before the first push.
        for service in labels.all { Self.counter(service, Self.accepted).increment(by: 0) }
    }

    func send(_ requests: [WebPushRequest], by deadline: ContinuousClock.Instant) async -> [Result<String, WebPushFailure>] {
        let results = await sender.send(requests, by: deadline)
        var counts: [Outcome: Int] = [:]
        for (request, result) in zip(requests, results) {
            counts[Outcome(origin: request.origin, code: Self.code(of: result)), default: 0] += 1
        }
        for (outcome, count) in counts {
            Self.counter(labels.label(of: PushEndpoint.host(of: outcome.origin)), outcome.code).increment(by: count)
        }
        return results
    }

    private static func counter(_ service: String, _ outcome: String) -> Counter {
        Instrument.webPushPushes.counter(["service": service, "outcome": outcome])
    }

    /// The codes of this service are few. An answer's status is a code as well.
    private static func code(of result: Result<String, WebPushFailure>) -> String {
        guard case .failure(let failure) = result else { return accepted }
        let code = failure.error.code
        return RelayErrorCode(rawValue: code) != nil || code.hasPrefix("HTTP_") ? code : "other"
    }
}

extension WebPush {
    /// What a push service's gauges show. A domain's hosts are added up.
    private struct Gauges {
        var subscriptions = 0
        var waiting = 0
        var inFlight = 0
        var isHealthy = true
        var isRefusing = false

        mutating func add(_ status: PushServiceStatus) {
            waiting += status.waiting
            inFlight += status.inFlight
            if status.isRefusing {
                isRefusing = true
            } else if status.stopped != nil {
                isHealthy = false
            }
        }

        func set(_ service: String) {
            Instrument.webPushSubscriptions.gauge(["service": service]).set(subscriptions)
            Instrument.webPushWaiting.gauge(["service": service]).set(waiting)
            Instrument.webPushInFlight.gauge(["service": service]).set(inFlight)
            Instrument.webPushHealthy.gauge(["service": service]).set(isHealthy ? 1 : 0)
            Instrument.webPushRefusing.gauge(["service": service]).set(isRefusing ? 1 : 0)
        }
    }

    /// Sets the gauges.
    func collectMetrics() {
        let labels = hosts.labels
        let count = subscriptions.tally.count
        var gauges = Dictionary(uniqueKeysWithValues: labels.all.map { ($0, Gauges()) })
        for (host, number) in count.hosts { gauges[labels.label(of: host), default: Gauges()].subscriptions += number }
        for status in pushing?.services() ?? [] {
            gauges[labels.label(of: PushEndpoint.host(of: status.origin)), default: Gauges()].add(status)
        }
        for (service, values) in gauges { values.set(service) }
        Instrument.webPushProven.gauge().set(count.proven)
    }
}

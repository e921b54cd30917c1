import Base
import Synchronization
import TestSupport

/// Browsers that get pushes of Alerts, half of them at each of two push services. Like FCM and the phones they are not on the machine.
final class BrowserFleet: Sendable {
    private let services: [TestPushService]
    private let browsers: [TestBrowser]
    private let journal: Journal
    private let injected = Mutex<[InjectedPushServiceFault]>([])

    /// The number of push services.
    static let services = 2
    /// How many browsers are subscribed to subjects to which much is posted, each to one. The others are subscribed to subjects of a crowd.
    private static let maxOrdinary = 40
    /// How long one browser tries to subscribe.
    private static let subscribeTimeout = Duration.seconds(300)
    /// Of the living subscriptions of a push service, this share ends at a time, and at least one.
    private static let endedShare = 0.025

    /// Subscribes the browsers.
    ///
    /// - Parameter services: The push services.
    init(
        of count: Int, at services: [TestPushService], _ subjects: RunSubjects, through portal: Portal, journal: Journal
    ) async throws {
        self.services = services
        self.journal = journal
        let (ordinary, crowds) = (subjects.ofBrowsers.map(\.topicKey), subjects.crowds.map(\.topicKey))
        browsers = try await TestBrowser.subscribe(
            count, at: services, through: portal, within: Self.subscribeTimeout
        ) { number in
            let topics = number < Self.maxOrdinary || crowds.isEmpty ? ordinary : crowds
            // Each subject has browsers at both push services.
            return [topics[number / Self.services % topics.count]]
        }
    }

    /// Whether a run with this many browsers needs subjects for a crowd.
    static func isCrowd(_ count: Int) -> Bool { count > maxOrdinary }

    /// Injects faults of the push services until a run's end, and ends all of them.
    func harm(seed: UInt64, length: Duration, from begin: ContinuousClock.Instant) async throws {
        let schedule = PushServiceSchedule(seed: seed, length: length, services: services.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in services.indices {
                let faults = schedule.faults.filter { $0.service == number }
                group.addTask { try await self.inject(faults, seed: seed, from: begin) }
            }
            for try await _ in group {}
        }
    }

    private func inject(_ faults: [PushServiceFault], seed: UInt64, from begin: ContinuousClock.Instant) async throws {
        for fault in faults {
            try await Task.sleep(until: begin + fault.at, clock: .continuous)
            let service = services[fault.service]
            let began = Int64.nowInMilliseconds
            journal.say("push-service-\(fault.service + 1): \(fault.action), \(fault.length.inSeconds)")
            if fault.action == .endSubscriptions { endSome(at: service, seed: seed) }
            service.behave(fault.action.behaviour)
            // Also when the run is interrupted.
            try? await Task.sleep(for: fault.length)
            service.behave(.works)
            let injected = InjectedPushServiceFault(
                service: fault.service, action: fault.action, began: began, ended: .nowInMilliseconds)
            self.injected.withLock { $0.append(injected) }
        }
    }

    /// Ends some subscriptions, while at least half of the browsers keep theirs.
    private func endSome(at service: TestPushService, seed: UInt64) {
        let own = browsers.filter { $0.service === service }
        let living = own.filter { !service.hasEnded($0.number) }
        let count = min(max(1, Int(Double(living.count) * Self.endedShare)), living.count - own.count / 2)
        var random = SeededGenerator(seed: seed ^ UInt64(living.count))
        for browser in living.shuffled(using: &random).prefix(max(0, count)) { service.end(browser.number) }
    }

    /// What the browsers have, once each push has arrived that must arrive, or the time is over.
    func settled(_ archive: [String: ArchivedMessage], within limit: Duration) async throws -> BrowserEvidence {
        let deadline = ContinuousClock.now + limit
        var said = 0
        while true {
            let evidence = evidence
            let missing = BrowserCount(evidence, archive: archive).missing.count
            if missing == 0 || ContinuousClock.now >= deadline { return evidence }
            if missing != said { journal.say("\(missing) pushes are still on their way to browsers") }
            said = missing
            try await Task.sleep(for: .seconds(1))
        }
    }

    private var evidence: BrowserEvidence {
        BrowserEvidence(
            browsers: browsers.map { browser in
                BrowserEvidence.Browser(
                    service: services.firstIndex { $0 === browser.service } ?? 0, alerts: Set(browser.alerts),
                    isEnded: browser.service.hasEnded(browser.number), arrivals: browser.arrivals,
                    refusals: browser.service.refusals(of: browser.number))
            },
            faults: injected.withLock(\.self), unreadable: services.reduce(0) { $0 + $1.unreadable },
            settled: .nowInMilliseconds)
    }
}

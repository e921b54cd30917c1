import TestSupport
import Testing

extension HarmTests.WithPushServices {
    /// An outage of FCM or of a push service while Alerts are posted: whoever has another transport gets each of them in time.
    @Suite("Outages of a transport", .timeLimit(.minutes(Level.isAll ? 60 : 15)))
    struct TransportOutageTests {
        /// The number of browsers, half of them at each of two push services.
        private static let browsers = Level.isAll ? 200 : 100
        /// The time between two Alerts.
        private static let period = Duration.milliseconds(Level.isAll ? 500 : 400)
        /// The outages of FCM and of a push service.
        private static let (fcmOutage, pushServiceOutage): (Duration, Duration) =
            Level.isAll ? (.seconds(600), .seconds(120)) : (.seconds(3), .seconds(3))
        /// How long an Alert may take from its post, in milliseconds. In level one the machine may be slow, and do other things.
        private static let limit: Int64 = Level.isAll ? 5_000 : 60_000
        /// How long is waited for Alerts, so that a late one shows how late it is.
        private static let timeout = Duration.milliseconds(limit) + .seconds(60)

        /// The Alerts of an outage: when each was posted, by its `msi_key`, in Unix milliseconds.
        private typealias Alerts = [String: Int64]

        @Test("Browsers have each Alert in time while FCM is away, and FCM and other browsers while a push service hangs")
        func outages() async throws {
            let (stack, services) = try StackWithPushServices.current
            let subject = try await stack.portal.makeSubject("Alert")
            let browsers = try await TestBrowser.subscribe(
                Self.browsers, at: services, through: stack.portal
            ) { _ in [subject.topicKey] }

            let withoutFCM = try await stack.whileFrozen("msi-fcm-emulator") {
                let alerts = try await post(to: subject, for: Self.fcmOutage, at: stack)
                try await expectInTime(alerts, at: browsers, "while FCM was away")
                return alerts
            }
            try await expectRelayed(withoutFCM, of: subject, at: stack)

            let (hanging, working) = (services[0], browsers.filter { $0.service !== services[0] })
            hanging.behave(.hangs)
            // Even if this test fails.
            defer { hanging.behave(.works) }
            let withoutOne = try await post(to: subject, for: Self.pushServiceOutage, at: stack)
            try await expectInTime(withoutOne, at: working, "while another push service hung")
            try await expectAtFCMInTime(withoutOne, of: subject, at: stack)
            hanging.behave(.works)
            try await arrival(of: withoutOne, at: browsers, within: Self.recovery(after: Self.pushServiceOutage))
        }

        /// The wait for what was kept back by an outage. Its retries may be as far apart as the outage was long.
        private static func recovery(after outage: Duration) -> Duration { .seconds(300) + outage * 2 }

        /// Posts Alerts at a constant rate.
        private func post(to subject: SubjectPath, for outage: Duration, at stack: Stack) async throws -> Alerts {
            var alerts: Alerts = [:]
            let end = ContinuousClock.now + outage
            var due = ContinuousClock.now
            while due < end {
                try await Task.sleep(until: due, clock: .continuous)
                let posted = Int64.nowInMilliseconds
                let msiKey = try await stack.portal.accepted(subject.message(title: "Alert \(alerts.count)"))
                alerts[msiKey] = posted
                due = max(due + Self.period, .now)
            }
            return alerts
        }

        /// Waits until each browser has each Alert.
        private func arrival(of alerts: Alerts, at browsers: [TestBrowser], within timeout: Duration) async throws {
            let keys = Set(alerts.keys)
            try await eventually("each Alert at each browser", within: timeout, every: .milliseconds(500)) {
                browsers.allSatisfy { keys.isSubset(of: $0.arrivals.lazy.map(\.msiKey)) }
            }
        }

        /// Checks that each browser has got each Alert within the limit.
        private func expectInTime(_ alerts: Alerts, at browsers: [TestBrowser], _ occasion: String) async throws {
            try await arrival(of: alerts, at: browsers, within: Self.timeout)
            var slowest: Int64 = 0
            for browser in browsers {
                // The first copy counts.
                var first: [String: Int64] = [:]
                for arrival in browser.arrivals where first[arrival.msiKey] == nil { first[arrival.msiKey] = arrival.received }
                for (msiKey, posted) in alerts { slowest = max(slowest, (first[msiKey] ?? .max) - posted) }
            }
            print("browsers \(occasion): \(alerts.count) Alerts at \(browsers.count) browsers, the slowest after \(slowest) ms")
            #expect(slowest <= Self.limit, "\(occasion)")
        }

        /// Checks that FCM has got both components of each Alert within the limit.
        private func expectAtFCMInTime(_ alerts: Alerts, of subject: SubjectPath, at stack: Stack) async throws {
            let expected = Set(
                alerts.keys.flatMap { key in
                    ["notification", "data"].map { SentComponent(msiKey: key, name: $0) }
                })
            let sends = try await eventually("each Alert at FCM", within: Self.timeout, every: .milliseconds(500)) {
                let sends = try await stack.fcm.acceptedComponents(to: subject.topicKey)
                return expected.isSubset(of: sends.map(\.component)) ? sends : nil
            }
            let slowest = sends.compactMap { send in alerts[send.component.msiKey].map { send.received - $0 } }.max() ?? 0
            print("FCM while a push service hung: \(alerts.count) Alerts, the slowest after \(slowest) ms")
            #expect(slowest <= Self.limit)
        }

        /// Waits until FCM has every Alert as well.
        private func expectRelayed(_ alerts: Alerts, of subject: SubjectPath, at stack: Stack) async throws {
            let timeout = Self.recovery(after: Self.fcmOutage)
            try await eventually("each Alert is relayed", within: timeout, every: .milliseconds(500)) {
                let archive = try await stack.portal.archive(of: subject)
                return archive.count == alerts.count && archive.allSatisfy { $0.state == "relayed" }
            }
        }
    }
}

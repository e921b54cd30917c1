import Glibc
import Base
import TestSupport
import Testing

extension HarmTests.WithoutSupervisor {
    /// Regular stops while FCM is slow: FCM gets each component once.
    @Suite("Stops", .timeLimit(.minutes(10)))
    struct StopTests {
        private static let count = 9

        /// Posts messages whose answers FCM delays, and performs a change while they wait. Expects that each is relayed
        /// exactly once.
        ///
        /// - Parameters:
        ///   - pace: The relay's limit of components a minute, if it should be slow.
        ///   - atFCM: The number of components that FCM has before the change.
        ///   - change: Replaces a process, and returns the running ones.
        private func expectNothingDoubled(
            answersAfter delay: Int64, pace: Int? = nil, whenAtFCM atFCM: Int = 2 * count,
            _ change: (SeparateServices, _ relay: ServiceProcess, _ log: ServiceProcess) async throws -> [ServiceProcess]
        ) async throws {
            try await SharedServices.use { services in
                let quota = pace.map { ["MSI_FCM_QUOTA": "\($0)", "MSI_FCM_QUOTA_SHARE": "100"] } ?? [:]
                let relay = try await services.start("msi-fcm-relay", settings: quota)
                let log = try await services.start("msi-message-log")
                let subject = try await services.portal.makeSubject("Alert")
                try await services.fcm.setFaults([["fault": "DELAY_REPLY", "fixed_ms": .integer(delay)]], seed: 1)
                var keys: [String] = []
                for _ in 0..<Self.count { keys.append(try await services.portal.accepted(subject.message())) }
                try await eventually("\(atFCM) components are at FCM") {
                    try await services.fcm.acceptedComponents(to: subject.topicKey).count >= atFCM
                }
                let running = try await change(services, relay, log)
                for key in keys { _ = try await services.portal.message(key, hasState: "relayed") }
                let sent = try await services.fcm.acceptedComponents(to: subject.topicKey).map(\.component)
                #expect(sent.count == 2 * Self.count && Set(sent).count == sent.count, "\(sent)")
                for process in running { #expect(await process.stop() == 0) }
            }
        }

        @Test("A stop of the message log waits for the messages in flight")
        func messageLog() async throws {
            // The last one is sent after 1.5 seconds and answered after 4.5.
            try await expectNothingDoubled(answersAfter: 3_000, pace: 720, whenAtFCM: 2) { services, relay, log in
                #expect(await log.stop() == 0)
                return [relay, try await services.start("msi-message-log")]
            }
        }

        @Test("A message log that starts while its predecessor waits for FCM leaves the predecessor its messages")
        func earlySuccessor() async throws {
            // On a busy machine a successor needs some seconds for its start. The relay would wait for FCM twice as long.
            try await expectNothingDoubled(answersAfter: 8_000) { services, relay, log in
                log.signal(SIGTERM)
                // The socket is free from then on.
                _ = try await log.child.waitForLog { $0.contains(#""message":"stopping""#) ? () : nil }
                try await Task.sleep(for: .milliseconds(300))
                let successor = try await services.start("msi-message-log")
                #expect(log.isRunning)
                #expect(await log.end() == 0)
                return [relay, successor]
            }
        }
    }
}

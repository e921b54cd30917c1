import FoundationEssentials
import Glibc
import NIOHTTP1
import Testing

extension SystemTests {
    /// The promise that nothing accepted is lost, put to the test.
    @Suite("Kills", .serialized, .stack())
    struct KillTests {
        /// How far from a kill a component may have been sent that is doubled by it, in milliseconds: it was under way when the
        /// process died, or while another took its place, and its outcome was lost.
        private static let aroundKill: ClosedRange<Int64> = -3_000...3_000

        @Test("each process is killed twice while messages are posted: every one that was accepted arrives, whole")
        func nothingIsLost() async throws {
            let stack = try SharedStack.current
            let subjects = [
                try await stack.portal.makeSubject("Alert"), try await stack.portal.makeSubject("Information"),
            ]
            try await stack.withPhone(subscribedTo: subjects.map(\.topicKey)) { phone in
                let traffic = Traffic(portal: stack.portal, subjects: subjects)
                let kills = try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await traffic.run(clients: 8, every: .milliseconds(80)) }
                    var kills: [Int64] = []
                    for _ in 0..<2 {
                        for service in Stack.services {
                            try await traffic.accepts(more: 50)
                            kills.append(.nowInMilliseconds)
                            try await stack.killAndReplace(service)
                            try await stack.healthy()
                        }
                    }
                    // Long enough for messages that no kill excuses.
                    try await eventually("quiet after the last kill") {
                        .nowInMilliseconds > (kills.last ?? 0) + 2 * Self.aroundKill.upperBound
                    }
                    try await traffic.accepts(more: 50)
                    traffic.stop()
                    try await group.waitForAll()
                    return kills
                }
                let accepted = traffic.accepted
                #expect(Set(accepted.map(\.msiKey)).count == accepted.count)
                #expect(traffic.surprises.isEmpty)

                let expected = Set(accepted.flatMap(\.components))
                // Whatever was under way at FCM while it was away is tried again after ten seconds or a little more. What is
                // missing after that is counted.
                try? await eventually(
                    "everything that was accepted is at the phone", within: .seconds(40), every: .milliseconds(100)
                ) {
                    expected.isSubset(of: phone.events.map(\.delivered))
                }
                let lost = expected.subtracting(phone.events.map(\.delivered))
                let states = try await settledStates(stack.portal)
                let doubled = try await doubledComponents(stack.fcm)
                print(
                    "accepted=\(accepted.count) delivered=\(accepted.filter { lost.isDisjoint(with: $0.components) }.count)",
                    "lost=\(lost.count) doubled=\(doubled.count) kills=\(kills.count) retried=\(traffic.retries)",
                    "unanswered=\(states.count - accepted.count)")
                #expect(lost.isEmpty)
                for message in accepted { #expect(states[message.msiKey] == "relayed", "\(message.msiKey)") }
                // What was stored although its answer was lost comes to its end as well.
                #expect(Set(states.values) == ["relayed"])
                for component in doubled {
                    let sent = component.sent
                    #expect(kills.contains { kill in Self.aroundKill.contains(sent - kill) }, "\(component)")
                }
            }
        }

        /// The relay state of every message in the archive, once all are final.
        private func settledStates(_ portal: Portal) async throws -> [String: String] {
            try await eventually("every message is final", within: .seconds(30), every: .milliseconds(250)) {
                var states: [String: String] = [:]
                var next: String? = "/message?limit=200"
                while let url = next {
                    let page = try await portal.call(.GET, url).json
                    for message in page["messages"]?.array ?? [] {
                        states[message["msi_key"]?.string ?? ""] = message["relay"]?["state"]?.string
                    }
                    next = page["next"]?.string
                }
                return states.values.contains { ["pending", "retrying"].contains($0) } ? nil : states
            }
        }

        private struct Doubled {
            let component: DeliveredComponent
            /// When FCM took the first copy, Unix milliseconds.
            let sent: Int64
        }

        /// The components that FCM accepted more than once.
        private func doubledComponents(_ fcm: FCMServer) async throws -> [Doubled] {
            var first: [DeliveredComponent: Int64] = [:]
            var doubled: [Doubled] = []
            for send in try await fcm.acceptedSends() {
                let message = send["body"]?["message"]
                let component = DeliveredComponent(
                    msiKey: message?["data"]?["msi_key"]?.string ?? "",
                    name: message?["notification"] == nil ? "data" : "notification")
                if let sent = first[component] {
                    doubled.append(Doubled(component: component, sent: sent))
                } else {
                    first[component] = send["received_at"]?.integer ?? 0
                }
            }
            return doubled
        }
    }
}

/// One component of one message: what a phone drops a second copy by.
struct DeliveredComponent: Hashable, Sendable {
    let msiKey: String
    let name: String
}

extension Phone.Event {
    var delivered: DeliveredComponent { DeliveredComponent(msiKey: msiKey, name: component) }
}

extension Int64 {
    /// Unix milliseconds.
    static var nowInMilliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}

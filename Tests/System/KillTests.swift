import Foundation
import Glibc
import TestSupport
import Testing

extension SystemTests {
    /// Nothing accepted is lost, whatever is killed.
    @Suite("Kills", .serialized, .stack())
    struct KillTests {
        /// The maximum time between a kill and the send of a component that the kill doubled, in milliseconds. The component was
        /// in flight when the process died or was replaced, and its outcome was lost.
        private static let aroundKill: ClosedRange<Int64> = -3_000...3_000

        @Test("While each process is killed twice, every message that was accepted arrives completely")
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
                    // Long enough for messages that no kill affects.
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
                // Sends during FCM's outage are retried after slightly more than ten seconds. Messages that are missing after
                // that are counted.
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
                // Messages that were stored although their answer was lost also end.
                #expect(Set(states.values) == ["relayed"])
                try await expectAudited(Set(states.keys), in: stack)
                for copy in doubled {
                    #expect(kills.contains { kill in Self.aroundKill.contains(copy.received - kill) }, "\(copy)")
                }
            }
        }

        /// Checks that the audit log has an entry for each message, and no other, and that its chain is whole.
        private func expectAudited(_ messages: Set<String>, in stack: Stack) async throws {
            var audited: [String] = []
            try await eventually("every message is in the audit log", within: .seconds(60), every: .milliseconds(250)) {
                audited = try await stack.portal.auditedObjects("message.send")
                return audited.count >= messages.count
            }
            #expect(audited.count == messages.count && Set(audited) == messages)
            let verification = try await ChildProcess(
                URL(filePath: try BuiltProduct.path(of: "msi")), ["audit", "verify"],
                environment: ["MSI_STATE_DIR": stack.stateDirectory], logFile: stack.stateDirectory + "/verification.log")
            #expect(await verification.end() == 0, "\(verification.log)")
        }

        /// The states of all messages in the archive, once all are final.
        private func settledStates(_ portal: Portal) async throws -> [String: String] {
            try await eventually("every message is final", within: .seconds(30), every: .milliseconds(250)) {
                let archive = try await portal.archive()
                guard archive.allSatisfy(\.isFinal) else { return nil }
                return Dictionary(uniqueKeysWithValues: archive.map { ($0.msiKey, $0.state) })
            }
        }

        /// The first copies of the components that FCM accepted more than once, one for each further copy.
        private func doubledComponents(_ fcm: FCMServer) async throws -> [AcceptedSend] {
            var first: [SentComponent: AcceptedSend] = [:]
            var doubled: [AcceptedSend] = []
            for send in try await fcm.acceptedComponents() {
                if let copy = first[send.component] {
                    doubled.append(copy)
                } else {
                    first[send.component] = send
                }
            }
            return doubled
        }
    }
}

extension Phone.Event {
    var delivered: SentComponent { SentComponent(msiKey: msiKey, name: component) }
}

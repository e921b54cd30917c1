import FoundationEssentials
import Base
import ServiceKit
import TestSupport
import Testing

/// A run of a scenario with one relay or two, in a separate stack.
struct ScenarioRun: Hashable, Sendable {
    let scenario: Scenario
    let relays: Int

    /// The results of the run.
    struct Outcome: Sendable {
        /// The outcomes of each case, for Alerts and for Information.
        let cases: [FaultCase: [CaseOutcome]]
        let counts: FCMServer.Counts
        /// The number of hits of all rules for topics.
        let hits: Int
        /// The number of FCM's acceptances in the second relay; `nil` if there is none.
        let acceptedBySecondRelay: Int?
    }

    /// The messages of one case and one distribution.
    private struct Batch: Sendable {
        let faultCase: FaultCase
        let subject: SubjectPath
        /// The index of its rule.
        let rule: Int?

        var components: Int { subject.distribution == "Alert" ? 2 : 1 }
    }

    /// A message that is hit four times, which happens with shares of requests, waits 10, 20, 40 and 80 seconds. Nearly always
    /// the run ends in half of that time.
    private static let maxWait = Duration.seconds(300)
    private static let seed: Int64 = 7

    func run() async throws -> Outcome {
        try await withTemporaryFolder { folder in
            let behaviour = folder + "/behaviour.json"
            try scenario.behaviour.data.write(to: URL(filePath: behaviour))
            let state = folder + "/state"
            let endpoints = (0..<relays).map { "ipc://\(state)/run/fcm-relay\($0 == 0 ? "" : "-\($0 + 1)").sock" }
            let settings = [
                "MSI_FCM_EMULATOR_BEHAVIOUR_FILE": behaviour, "MSI_FCM_RAMP": "0",
                "MSI_FCM_RELAY_ENDPOINTS": endpoints.joined(separator: ","),
            ]
            return try await withStack(in: state, settings: settings) { stack in
                try await stack.healthy()
                guard relays > 1 else { return try await run(at: stack.portal, stack.fcm) }
                let settings = EmulatorAccess(port: stack.fcm.port, stateDirectory: state).settings.merging([
                    "MSI_FCM_RELAY_LISTEN": endpoints[1], "MSI_FCM_RAMP": "0", "MSI_LOG_LEVEL": "debug",
                ]) { $1 }
                return try await withService("msi-fcm-relay", in: state, settings: settings) { second in
                    try await run(at: stack.portal, stack.fcm, second: second)
                }
            }
        }
    }

    /// - Parameter second: The second relay, if there is one.
    func run(at portal: Portal, _ fcm: FCMServer, second: ServiceProcess? = nil) async throws -> Outcome {
        let (batches, rules) = try await batches(portal)
        try await fcm.setFaults(rules, seed: Self.seed)
        let watch = ArchiveWatch(portal: portal)
        let posted = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await watch.run(within: Self.maxWait) }
            let posted = try await post(batches, to: portal)
            watch.expects(Set(posted.joined()))
            try await group.waitForAll()
            return posted
        }
        let hits = try await fcm.faultHits()
        let errors = watch.errors
        var outcomes: [FaultCase: [CaseOutcome]] = [:]
        for (batch, keys) in zip(batches, posted) {
            outcomes[batch.faultCase, default: []].append(
                CaseOutcome(
                    distribution: batch.subject.distribution, components: batch.components,
                    messages: keys.compactMap(watch.message), errorsByComponent: errors.filter { keys.contains($0.key.msiKey) },
                    sends: try await fcm.acceptedComponents(to: batch.subject.topicKey),
                    hits: batch.rule.map { hits[$0] } ?? 0))
        }
        return Outcome(
            cases: outcomes, counts: try await fcm.counts(),
            hits: batches.compactMap(\.rule).reduce(0) { $0 + hits[$1] },
            acceptedBySecondRelay: second.map { $0.log.split(separator: "\"message\":\"accepted by FCM\"").count - 1 })
    }

    /// Creates a subject for each distribution of each case, with the rules for its topic.
    private func batches(_ portal: Portal) async throws -> (batches: [Batch], rules: [JSONValue]) {
        var batches: [Batch] = []
        var rules = scenario.rules
        let place = try await portal.makeSubject("Alert", name: "The first")
        for (number, faultCase) in scenario.cases.enumerated() {
            for distribution in ["Alert", "Information"] {
                let subject = try await portal.makeSubject(
                    distribution, name: "\(number) \(distribution)", in: place.channel, place.area)
                let rule = faultCase.rule(for: subject.topicKey, components: distribution == "Alert" ? 2 : 1)
                batches.append(Batch(faultCase: faultCase, subject: subject, rule: rule == nil ? nil : rules.count))
                if let rule { rules.append(rule) }
            }
        }
        return (batches, rules)
    }

    /// - Returns: The `msi_key`s of each batch's messages.
    private func post(_ batches: [Batch], to portal: Portal) async throws -> [[String]] {
        try await withThrowingTaskGroup(of: (Int, [String]).self) { group in
            for (index, batch) in batches.enumerated() {
                group.addTask { (index, try await post(batch, to: portal)) }
            }
            var keys = Array(repeating: [String](), count: batches.count)
            for try await (index, posted) in group { keys[index] = posted }
            return keys
        }
    }

    private func post(_ batch: Batch, to portal: Portal) async throws -> [String] {
        var keys: [String] = []
        var due = ContinuousClock.now
        for number in 0..<batch.faultCase.messages {
            var message = batch.subject.message(title: "Message \(number)")
            if let lifetime = batch.faultCase.lifetime { message["ttl"] = .integer(lifetime) }
            keys.append(try await portal.accepted(message, key: "\(batch.subject.topicKey) \(number)"))
            due += batch.faultCase.period
            try await Task.sleep(until: due, clock: .continuous)
        }
        return keys
    }
}

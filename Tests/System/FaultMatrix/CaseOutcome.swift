import Base
import TestSupport

/// The outcome of one case's messages of one distribution.
struct CaseOutcome: Sendable {
    let distribution: String
    /// The number of components of each message.
    let components: Int
    /// The final messages of the archive.
    let messages: [ArchivedMessage]
    /// All errors that the archive has shown for them.
    let errorsByComponent: [SentComponent: Set<ArchiveWatch.Trouble>]
    /// FCM's accepted sends to their topic.
    let sends: [AcceptedSend]
    /// The number of hits of the case's fault.
    let hits: Int

    var errors: Set<ArchiveWatch.Trouble> { errorsByComponent.values.reduce(into: []) { $0.formUnion($1) } }

    /// Sends after the first one of each component. If a relay had a timeout after ten seconds, as on a busy machine, FCM may
    /// have accepted the send anyway. Such copies are not counted for the case.
    var copies: Int {
        let counted = sends.map(\.component).filter { component in
            errorsByComponent[component]?.contains { $0.code == "TIMEOUT" } != true
        }
        return counted.count - Set(counted).count
    }

    /// The differences from the case's expectation.
    func problems(with faultCase: FaultCase) -> [String] {
        guard messages.count == faultCase.messages else {
            return ["\(messages.count) of \(faultCase.messages) messages are in the archive"]
        }
        var problems = messages.filter { !$0.isFinal }.map { "not at its end: \($0)" }
        func require(_ isRight: Bool, _ problem: @autoclosure () -> String) {
            if !isRight { problems.append("\(distribution): \(problem())") }
        }
        func met(only codes: Set<String>) {
            let others = errors.filter { $0.class != "retryable" || !codes.contains($0.code) }
            require(others.isEmpty, "errors that do not belong here: \(others)")
        }
        switch faultCase.end {
        case .relayed:
            problems += notRelayed()
            require(errors.isEmpty, "errors: \(errors)")
            require(messages.allSatisfy { $0.attempts == 1 }, "attempts: \(messages.map(\.attempts))")
            require(copies == 0, "\(copies) copies")
        case .retried(let code, let seconds):
            problems += notRelayed()
            require(errors == [.init(class: "retryable", code: code)], "errors: \(errors)")
            if case .first(let times) = faultCase.hits {
                require(messages.allSatisfy { $0.attempts == times + 1 }, "attempts: \(messages.map(\.attempts))")
            }
            require(copies == 0, "\(copies) copies")
            for (wait, component) in waits where wait < Int64(seconds) * 1_000 {
                require(false, "\(component) was tried again after \(wait) ms")
            }
        case .relayedSomehow(let codes):
            problems += notRelayed()
            met(only: codes)
            require(copies == 0, "\(copies) copies")
        case .mayDouble(let codes):
            problems += notRelayed()
            met(only: codes)
            require(copies <= hits, "\(copies) copies after \(hits) faults")
        case .mayDoubleInCrowd(let codes):
            problems += notRelayed()
            met(only: codes)
        case .failed(let code):
            problems += notEnded(as: "failed") { $0.errorClass == "permanent" && $0.error == code }
            require(messages.allSatisfy { $0.attempts == 1 }, "attempts: \(messages.map(\.attempts))")
        case .expired(let codes):
            problems += notEnded(as: "expired") { codes.contains($0.error ?? "") }
            met(only: codes)
        }
        switch faultCase.hits {
        case .first, .all: require(faultCase.fault == nil || hits > 0 || isHeldBack, "the fault has never happened")
        case .percent: break
        }
        return problems
    }

    /// Whether no component was ever sent, because the faults of other cases blocked the whole project.
    private var isHeldBack: Bool {
        !errors.isEmpty && errors.allSatisfy { ["OAUTH", "CIRCUIT_OPEN"].contains($0.code) }
    }

    /// The time from a message's due time to its acceptance, in milliseconds.
    private var waits: [(Int64, SentComponent)] {
        let due = Dictionary(uniqueKeysWithValues: messages.map { ($0.msiKey, $0.due) })
        return sends.map { ($0.received - (due[$0.component.msiKey] ?? 0), $0.component) }
    }

    /// Lost messages, and false claims of the archive.
    private func notRelayed() -> [String] {
        let names = Set(sends.map(\.name))
        let sent = Set(sends.map(\.component))
        return messages.flatMap { message in
            message.components.filter { !sent.contains($0.component) }.map { "lost: \($0.component)" }
                + message.components.filter { $0.state != "accepted" || !names.contains($0.name ?? "") }.map {
                    "not accepted: \($0)"
                }
                + (message.state == "relayed" && message.components.count == components ? [] : ["not relayed: \(message)"])
        }
    }

    private func notEnded(as state: String, _ isRight: (ArchivedMessage.Component) -> Bool) -> [String] {
        sends.map { "at FCM: \($0.component)" }
            + messages.filter { message in
                message.state != state || message.components.count != components
                    || !message.components.allSatisfy { $0.state == state && isRight($0) }
            }.map { "not \(state) for that reason: \($0)" }
    }
}

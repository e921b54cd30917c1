import TestSupport

/// What has become of one cell's messages of one distribution.
struct CellOutcome: Sendable {
    let distribution: String
    /// How many components each message has.
    let components: Int
    /// As the archive has them in the end.
    let messages: [ArchivedMessage]
    /// The errors that the archive has shown for them, at any time.
    let errorsByComponent: [SentComponent: Set<ArchiveWatch.Trouble>]
    /// What FCM has accepted for their topic.
    let sends: [AcceptedSend]
    /// How often the cell's fault has happened.
    let hits: Int

    var errors: Set<ArchiveWatch.Trouble> { errorsByComponent.values.reduce(into: []) { $0.formUnion($1) } }

    /// Sends beyond the first one of each component. What a relay gave up because it had no answer for ten seconds, FCM may have
    /// taken all the same, as on a machine that does too much: those are no copies that the cell has to answer for.
    var copies: Int {
        let counted = sends.map(\.component).filter { component in
            errorsByComponent[component]?.contains { $0.code == "TIMEOUT" } != true
        }
        return counted.count - Set(counted).count
    }

    /// What is not as the cell says: nothing, in the end.
    func problems(with cell: Cell) -> [String] {
        guard messages.count == cell.messages else {
            return ["\(messages.count) of \(cell.messages) messages are in the archive"]
        }
        var problems = messages.filter { !$0.isFinal }.map { "not at its end: \($0)" }
        func require(_ isRight: Bool, _ problem: @autoclosure () -> String) {
            if !isRight { problems.append("\(distribution): \(problem())") }
        }
        func met(only codes: Set<String>) {
            let others = errors.filter { $0.class != "retryable" || !codes.contains($0.code) }
            require(others.isEmpty, "errors that do not belong here: \(others)")
        }
        switch cell.end {
        case .relayed:
            problems += notRelayed()
            require(errors.isEmpty, "errors: \(errors)")
            require(messages.allSatisfy { $0.attempts == 1 }, "attempts: \(messages.map(\.attempts))")
            require(copies == 0, "\(copies) copies")
        case .retried(let code, let seconds):
            problems += notRelayed()
            require(errors == [.init(class: "retryable", code: code)], "errors: \(errors)")
            if case .first(let times) = cell.hits {
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
        switch cell.hits {
        case .first, .all: require(cell.fault == nil || hits > 0 || isHeldBack, "the fault has never happened")
        case .percent: break
        }
        return problems
    }

    /// Whether nothing of it was ever sent, because what happened to other cells' messages kept all of the project's back.
    private var isHeldBack: Bool {
        !errors.isEmpty && errors.allSatisfy { ["OAUTH", "CIRCUIT_OPEN"].contains($0.code) }
    }

    /// The time from when a message was due to its acceptance, in milliseconds.
    private var waits: [(Int64, SentComponent)] {
        let due = Dictionary(uniqueKeysWithValues: messages.map { ($0.msiKey, $0.due) })
        return sends.map { ($0.received - (due[$0.component.msiKey] ?? 0), $0.component) }
    }

    /// What is lost, or said to be what it is not.
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

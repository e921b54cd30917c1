/// What happened when further processes of some services joined those that were running, before the first fault.
struct JoinEvidence: Hashable, Sendable {
    /// The processes that joined.
    var joined: [Part] = []
    /// Those of them that got messages.
    var working: Set<Part> = []
    /// How many posts had no answer until then because of a broken connection, or 503 for another cause than a slow machine.
    var interruptions = 0
}

/// Whether clients found the processes that joined, and noticed nothing else. Pure.
struct JoinVerdict: Sendable {
    private(set) var problems: [String] = []

    init(_ evidence: JoinEvidence) {
        for part in evidence.joined where !evidence.working.contains(part) {
            problems.append("\(part.name) has joined, and gets no messages")
        }
        if evidence.interruptions > 0 {
            problems.append("\(evidence.interruptions) posts failed while processes joined, before the first fault")
        }
    }
}

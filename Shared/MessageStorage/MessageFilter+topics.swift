import Schemas

extension MessageFilter {
    /// Whether another condition than the topics selects few messages, by an index of its own.
    var isSelective: Bool {
        text != nil || sender != nil || traceID != nil || (state ?? .relayed) != .relayed
    }
}

/// The number of the archive's newest messages among which a page of many topics is looked for first.
let maxSearchedMessages = 500

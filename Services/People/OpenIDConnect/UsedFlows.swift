import Schemas

/// The flows that have come back, so that each is valid once. Pure.
struct UsedFlows: Sendable {
    /// The maximum number that is remembered. The provider's codes are valid once as well.
    private static let maxFlows = 20_000

    private var ends: [String: UnixMilliseconds] = [:]

    /// - Returns: Whether this is the flow's first use.
    mutating func use(_ flow: OpenIDFlow, now: UnixMilliseconds) -> Bool {
        guard ends[flow.state] == nil else { return false }
        if ends.count >= Self.maxFlows { makeRoom(now: now) }
        ends[flow.state] = flow.made + OpenIDFlow.lifetime
        return true
    }

    /// Forgets the flows that have ended, and if they are few, the older half.
    private mutating func makeRoom(now: UnixMilliseconds) {
        ends = ends.filter { $0.value > now }
        guard ends.count > Self.maxFlows / 2 else { return }
        let middle = ends.values.sorted()[ends.count / 2]
        ends = ends.filter { $0.value > middle }
    }
}

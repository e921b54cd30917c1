/// The target of a load.
protocol LoadTarget: Sendable {
    /// Sends one message, and returns when it is answered.
    ///
    /// - Parameter index: The number of the message, from 0.
    /// - Returns: `nil` if all components were accepted; otherwise the class of each error, such as `fcm QUOTA_EXCEEDED`.
    ///   There are few classes.
    func send(_ index: Int) async -> [String]?

    /// The current bottlenecks, as the target reports them; empty if it reports none.
    func bottlenecks() async -> Set<Bottleneck>

    /// The executor on which sending is cheapest; `nil` for no preference.
    var executor: (any TaskExecutor)? { get }
}

extension LoadTarget {
    func bottlenecks() async -> Set<Bottleneck> { [] }

    var executor: (any TaskExecutor)? { nil }
}

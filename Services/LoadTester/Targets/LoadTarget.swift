/// What a load goes to.
protocol LoadTarget: Sendable {
    /// Sends one message, and returns when it is answered.
    ///
    /// - Parameter index: Which of the load's messages, from 0.
    /// - Returns: `nil` when all of it was accepted; otherwise the class of each thing that was not, such as
    ///   `fcm QUOTA_EXCEEDED`. There are few classes.
    func send(_ index: Int) async -> [String]?

    /// What holds the load back now, as the target itself says; empty where it does not say.
    func holdups() async -> Set<Holdup>

    /// Where sending costs least; `nil` where that does not matter.
    var executor: (any TaskExecutor)? { get }
}

extension LoadTarget {
    func holdups() async -> Set<Holdup> { [] }

    var executor: (any TaskExecutor)? { nil }
}

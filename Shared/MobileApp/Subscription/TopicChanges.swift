/// Changes of the phone's topics at FCM, one after another. One that fails does not stop the others, unless FCM takes too long.
struct TopicChanges {
    private let clock: any DeviceClock
    /// The time that the changes have taken, in milliseconds.
    private var taken: Int64 = 0
    private var failure: (any Error)?
    private var isOver = false

    /// After this time in milliseconds, a failure ends the changes: FCM answers none.
    private static let limit: Int64 = 30_000

    init(clock: any DeviceClock) {
        self.clock = clock
    }

    /// Makes a change. Its error is kept for ``finish()``.
    mutating func attempt(_ change: () async throws -> Void) async {
        guard !isOver else { return }
        let begin = clock.now
        do {
            try await change()
            taken += clock.now - begin
        } catch {
            taken += clock.now - begin
            failure = failure ?? error
            isOver = Task.isCancelled || taken > Self.limit
        }
    }

    /// - Throws: The first error of the changes.
    func finish() throws {
        if let failure { throw failure }
    }
}

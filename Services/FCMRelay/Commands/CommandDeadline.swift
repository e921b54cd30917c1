import CommandBus
import Schemas

/// When a command's answer has to be made.
enum CommandDeadline {
    /// How long a command that names no deadline may take, in milliseconds.
    private static let defaultTimeout: Int64 = 30_000
    /// What is left of a deadline for the answer's own way back, in milliseconds.
    private static let timeForAnswer: Int64 = 250

    /// - Parameter now: The wall clock, which the command's deadline is told by.
    static func instant(of context: CommandContext, now: UnixMilliseconds) -> ContinuousClock.Instant {
        let remaining = context.deadline.map { max($0, now) - now - timeForAnswer } ?? defaultTimeout
        return .now + .milliseconds(min(remaining, defaultTimeout))
    }
}

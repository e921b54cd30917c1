import CommandBus
import Schemas
import ServiceKit

/// When a command's answer has to be made.
enum CommandDeadline {
    /// - Parameter now: The wall clock, which the command's deadline is told by.
    static func instant(of context: CommandContext, now: UnixMilliseconds) -> ContinuousClock.Instant {
        let remaining = context.deadline.map { .milliseconds(max($0, now) - now) - DeliveryTimes.relayReplyMargin }
        return .now + min(remaining ?? DeliveryTimes.maxRelayTime, DeliveryTimes.maxRelayTime)
    }
}

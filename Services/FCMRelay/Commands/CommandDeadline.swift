import CommandBus
import Schemas
import ServiceKit

/// The time by which a command must be answered.
enum CommandDeadline {
    /// - Parameter now: The wall clock, which the command's deadline refers to.
    static func instant(of context: CommandContext, now: UnixMilliseconds) -> ContinuousClock.Instant {
        let remaining = context.deadline.map { .milliseconds(max($0, now) - now) - DeliveryTimes.relayReplyMargin }
        return .now + min(remaining ?? DeliveryTimes.maxRelayTime, DeliveryTimes.maxRelayTime)
    }
}

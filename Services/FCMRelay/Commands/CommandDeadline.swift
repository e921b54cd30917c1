import CommandBus
import Schemas
import ServiceKit
import Time

/// The time by which a command must be answered.
enum CommandDeadline {
    /// - Parameter now: The wall clock, which the command's deadline refers to.
    static func instant(of context: CommandContext, now: UnixMilliseconds) -> ContinuousClock.Instant {
        let remaining = context.deadline.map { Duration(max($0, now) - now) - DeliveryTimes.relayReplyMargin }
        return .now + min(remaining ?? DeliveryTimes.maxRelayTime, DeliveryTimes.maxRelayTime)
    }
}

import Schemas
import Time

/// The default lifetimes of messages.
struct MessageLifetimes: Sendable {
    /// The lifetime of a message.
    let message: Seconds
    /// The lifetime of an Alert; not longer than ``message``.
    let alert: Seconds

    /// The lifetime for a distribution.
    subscript(distribution: Distribution) -> Seconds {
        switch distribution {
        case .alert: min(alert, message)
        case .information: message
        }
    }
}

import Schemas

/// The default lifetimes of messages.
struct MessageLifetimes: Sendable {
    /// The lifetime of a message, in seconds.
    let message: Int64
    /// The lifetime of an Alert, in seconds; not longer than ``message``.
    let alert: Int64

    /// The lifetime for a distribution, in seconds.
    subscript(distribution: Distribution) -> Int64 {
        switch distribution {
        case .alert: min(alert, message)
        case .information: message
        }
    }
}

import Schemas

/// For how long a message is worth delivering whose sender does not say.
struct MessageLifetimes: Sendable {
    /// Any message, in seconds.
    let message: Int64
    /// An Alert, in seconds; no longer than any message.
    let alert: Int64

    /// In seconds.
    subscript(distribution: Distribution) -> Int64 {
        switch distribution {
        case .alert: min(alert, message)
        case .information: message
        }
    }
}

import Schemas
import ServiceKit
import Time

/// The default lifetimes of messages.
struct MessageLifetimes: Sendable {
    private let configured: LiveSetting<Seconds>
    /// The lifetime of an Alert; not longer than ``message``.
    let alert: Seconds

    init(message: LiveSetting<Seconds>, alert: Seconds) {
        configured = message
        self.alert = alert
    }

    /// The lifetime of a message.
    var message: Seconds { configured.value }

    /// The lifetime for a distribution.
    subscript(distribution: Distribution) -> Seconds {
        switch distribution {
        case .alert: min(alert, message)
        case .information: message
        }
    }
}

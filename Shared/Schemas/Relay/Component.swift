import JSON

/// What one HTTPS request to FCM carries of a message (seed, "FCM Mapping").
package enum Component: String, ClosedEnum {
    /// The pop-up: title, body and `msi_key`.
    case notification
    /// The message itself, silently.
    case data
}

extension Distribution {
    /// The components that a message of this distribution consists of, in the order in which they are sent.
    package var components: [Component] {
        switch self {
        case .alert: [.notification, .data]
        case .information: [.data]
        }
    }
}

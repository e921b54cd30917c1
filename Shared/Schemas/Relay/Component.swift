import JSON

/// A part of a message that one HTTPS request to FCM carries (seed, "FCM Mapping").
package enum Component: String, ClosedEnum {
    /// The pop-up: title, body and `msi_key`.
    case notification
    /// The message itself, silently.
    case data
}

extension Distribution {
    /// The components of a message of this distribution, in the order of sending.
    package var components: [Component] {
        switch self {
        case .alert: [.notification, .data]
        case .information: [.data]
        }
    }
}

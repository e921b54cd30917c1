import JSON

/// The service that delivers a push. The outbox does not depend on it; another transport needs its own relay.
package enum PushTransport: String, ClosedEnum {
    /// Firebase Cloud Messaging, by its HTTP v1 API.
    case fcm
}

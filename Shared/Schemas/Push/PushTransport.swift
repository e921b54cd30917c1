import JSON

/// What carries a push to its recipients. The outbox only hands it on: another transport needs a relay of its own.
package enum PushTransport: String, ClosedEnum {
    /// Firebase Cloud Messaging, by its HTTP v1 API.
    case fcm
}

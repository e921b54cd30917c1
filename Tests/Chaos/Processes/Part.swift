/// A process of the product, by the name that it has in a chaos run.
enum Part: String, Hashable, Sendable, CaseIterable {
    /// MongoDB's place is taken by the tests' own server.
    case database
    case emulator
    case relay1 = "relay-1"
    case relay2 = "relay-2"
    case cube
    case messageLog1 = "message-log-1"
    case messageLog2 = "message-log-2"
    case gateway

    static let relays: [Part] = [.relay1, .relay2]
    static let messageLogs: [Part] = [.messageLog1, .messageLog2]
    /// Those that a component passes on its way from a relay to FCM.
    static let sending = relays + [.emulator]
    /// Those that a message needs to come to FCM once it is stored.
    static let relaying = sending + messageLogs + [.database]

    /// The service's executable; `nil` for what is none of the product's.
    var executable: String? {
        switch self {
        case .database: nil
        case .emulator: "msi-fcm-emulator"
        case .relay1, .relay2: "msi-fcm-relay"
        case .cube: "msi-cube"
        case .messageLog1, .messageLog2: "msi-message-log"
        case .gateway: "msi-gateway"
        }
    }
}

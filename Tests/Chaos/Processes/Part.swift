/// What faults happen to, by the name that it has in a chaos run: a process of the product, or the machine that they all share.
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
    /// Its power, its disk and its clock. FCM is elsewhere.
    case machine

    static let relays: [Part] = [.relay1, .relay2]
    static let messageLogs: [Part] = [.messageLog1, .messageLog2]
    /// Those that a component passes on its way from a relay to FCM.
    static let sending = relays + [.emulator]
    /// Those that a message needs to come to FCM once it is stored.
    static let relaying = sending + messageLogs + [.database, .machine]

    /// Whether the machine's power and clock are its own.
    var isOnMachine: Bool { ![.emulator, .database, .machine].contains(self) }

    /// What can be done to it.
    var deeds: [Fault.Deed] {
        switch self {
        case .machine: Fault.Deed.ofMachine
        case .database: Fault.Deed.ofProcesses
        case .emulator, .gateway: Fault.Deed.ofProcesses + [.orphan]
        case .cube: Fault.Deed.ofProcesses + [.orphan, .unlinkSocket]
        case .messageLog1, .messageLog2: Fault.Deed.ofProcesses + [.orphan, .unlinkSocket, .replaceEarly]
        case .relay1, .relay2:
            Fault.Deed.ofProcesses + [.orphan, .unlinkSocket, .silenceConnections, .cutOff, .hangResolver]
        }
    }

    /// The service's executable; `nil` for what is none of the product's.
    var executable: String? {
        switch self {
        case .database, .machine: nil
        case .emulator: "msi-fcm-emulator"
        case .relay1, .relay2: "msi-fcm-relay"
        case .cube: "msi-cube"
        case .messageLog1, .messageLog2: "msi-message-log"
        case .gateway: "msi-gateway"
        }
    }
}

/// A target of faults: a process of the product, or the machine that they share.
enum Part: String, Hashable, Sendable, CaseIterable {
    /// The tests' own server, which replaces MongoDB.
    case database
    case emulator
    case relay1 = "relay-1"
    case relay2 = "relay-2"
    case cube
    case messageLog1 = "message-log-1"
    case messageLog2 = "message-log-2"
    case gateway
    /// The power, the disk and the clock. FCM is on another machine.
    case machine

    static let relays: [Part] = [.relay1, .relay2]
    static let messageLogs: [Part] = [.messageLog1, .messageLog2]
    /// The parts between a relay and FCM.
    static let sending = relays + [.emulator]
    /// The parts that relay a stored message to FCM.
    static let relaying = sending + messageLogs + [.database, .machine]

    /// Whether it runs on the machine, and so has its power and clock.
    var isOnMachine: Bool { ![.emulator, .database, .machine].contains(self) }

    /// Its possible faults.
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

    /// The service's executable; `nil` for parts that are not the product's.
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

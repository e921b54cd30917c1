import ServiceKit

/// A target of faults: a process of the product, the database server, or the machine that they share.
struct Part: Hashable, Sendable {
    private enum Kind: Hashable {
        case service(ServiceEntry)
        case database
        case machine
    }

    private let kind: Kind
    /// Its number among the processes of its service; `nil` if there is only one.
    let number: Int?

    private init(_ kind: Kind, number: Int? = nil) {
        self.kind = kind
        self.number = number
    }

    /// The tests' own server, which replaces MongoDB.
    static let database = Part(.database)
    /// The power, the disk and the clock. FCM is on another machine.
    static let machine = Part(.machine)
    static let emulator = Part(.service(.fcmEmulator))
    /// It stands for providers that are elsewhere. The phones' persons sign in with its tokens before there are faults.
    static let identityEmulator = Part(.service(.identityEmulator))
    static let gateway = Part(.service(.gateway))
    static let relays = processes(of: .fcmRelay)
    static let messageLogs = processes(of: .messageLog)
    static let webPush = processes(of: .webpush)
    /// Those with a database.
    static let withData = ServiceEntry.all.filter(\.keepsData).flatMap { processes(of: $0) }
    /// The parts between a relay and FCM.
    static let sending = relays + [.emulator]
    /// The parts that relay a stored message to FCM.
    static let relaying = sending + messageLogs + [.database, .machine]

    /// The parts that hand a stored message to the push services of browsers.
    static let pushing = webPush + messageLogs + [.database, .machine]

    /// The number of processes of a service; one if there is no entry.
    static let counts: [ServiceEntry: Int] = [.fcmRelay: 2, .messageLog: 2, .webpush: 2]

    private static func processes(of service: ServiceEntry) -> [Part] {
        guard let count = counts[service] else { return [Part(.service(service))] }
        return (1...count).map { Part(.service(service), number: $0) }
    }

    /// `nil` for parts that are not the product's.
    var service: ServiceEntry? {
        if case .service(let service) = kind { service } else { nil }
    }

    /// Those of several processes that start when clients are running already. The clients find them by a pattern of endpoints.
    static let late = allCases.filter { ($0.number ?? 1) > 1 }

    /// Its name in the run's output and files, such as `fcm-relay-1`.
    var name: String {
        let name =
            switch kind {
            case .service(let service): service.name
            case .database: "database"
            case .machine: "machine"
            }
        return number.map { "\(name)-\($0)" } ?? name
    }

    /// The services, which an operator upgrades. FCM and the providers of identities are none of them.
    static let ofProduct = allCases.filter(\.isOnMachine)

    /// Whether it runs on the machine, and so has its power and clock.
    var isOnMachine: Bool { service != nil && self != .emulator && self != .identityEmulator }

    /// Its possible faults.
    var actions: [Fault.Action] {
        switch kind {
        case .service(.identityEmulator): []
        case .machine: Fault.Action.ofMachine
        case .database: Fault.Action.ofProcesses
        case .service(let service):
            Fault.Action.ofProcesses + [.orphan] + (service.sockets.isEmpty ? [] : [.unlinkSocket])
                + (service == .messageLog ? [.replaceEarly] : [])
                + (service == .fcmRelay ? [.silenceConnections, .cutOff, .hangResolver] : [])
        }
    }

    /// The name of a socket's file in the runtime directory, such as `message-log-events@1.sock`: with the number as in the packages'
    /// units.
    func socketFile(_ socket: BusSocket) -> String? {
        service.map { Self.socketFile($0, socket, instance: number.map(String.init)) }
    }

    /// That of all processes of a service that has several.
    static func socketPattern(_ service: ServiceEntry, _ socket: BusSocket) -> String {
        socketFile(service, socket, instance: "*")
    }

    private static func socketFile(_ service: ServiceEntry, _ socket: BusSocket, instance: String?) -> String {
        service.name + (socket == .events ? "-events" : "") + (instance.map { "@\($0)" } ?? "") + ".sock"
    }
}

extension Part: CaseIterable {
    /// In the order of their start. The machine is last.
    static let allCases: [Part] = [database] + ServiceEntry.all.flatMap(processes) + [machine]
}

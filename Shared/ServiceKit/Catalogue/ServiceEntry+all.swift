extension ServiceEntry {
    /// All services, each after its dependencies. They are stopped in reverse order.
    package static let all: [ServiceEntry] = [fcmEmulator] + behindGateway + [gateway]

    /// The services that answer commands on the bus.
    static let behindGateway: [ServiceEntry] = [fcmRelay, people, cube, messageLog, broadcast]
}

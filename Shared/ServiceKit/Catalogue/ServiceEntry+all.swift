extension ServiceEntry {
    /// All services, each after its dependencies. They are stopped in reverse order.
    package static let all: [ServiceEntry] = [fcmEmulator] + behindGateway + [gateway]

    /// Services that an operator sets up and starts. `msi up` does not start them.
    package static let optional: [ServiceEntry] = [canary]

    /// The services that answer commands on the bus.
    static let behindGateway: [ServiceEntry] = [fcmRelay, people, cube, messageLog, broadcast]
}

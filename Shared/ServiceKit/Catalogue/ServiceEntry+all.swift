extension ServiceEntry {
    /// Every service. One that uses another comes after it. They are stopped in the opposite order.
    package static let all: [ServiceEntry] = [fcmEmulator] + behindGateway + [gateway]

    /// The services of the bus.
    static let behindGateway: [ServiceEntry] = [fcmRelay, cube, messageLog]
}

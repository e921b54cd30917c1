extension ServiceEntry {
    /// Many simulated phones in one process of the phone's executable: `msi-phone fleet`.
    package static let phoneFleet = ServiceEntry(
        "phone", "many simulated phones, which count at their end what they have received.",
        title: "fleet of phones",
        settings: [
            Setting.fleetCount.declaration, Setting.fleetSeconds.declaration, Setting.fleetUnsteady.declaration,
            Setting.gatewayURL.declaration, Setting.gatewayPort.declaration, Setting.fcmEmulatorPort.declaration,
        ])
}

extension Setting where Value == Int {
    package static let fleetCount = integer("phone.fleet.count", "The number of phones.", in: 1...30_000, default: 100)

    package static let fleetSeconds = integer(
        "phone.fleet.seconds", "For how many seconds the phones run; 0 for until SIGTERM or Ctrl-C.", in: 0...86_400, default: 0)

    package static let fleetUnsteady = integer(
        "phone.fleet.unsteady",
        "How many of the phones are a trial: a third of them is offline at times, for another third the app is killed at times, "
            + "and the rest registers late.",
        in: 0...30_000, default: 0)
}

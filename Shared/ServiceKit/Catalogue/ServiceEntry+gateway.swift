package import Time

extension ServiceEntry {
    /// The HTTP server. It uses every service whose entry says so.
    package static let gateway = ServiceEntry(
        "gateway", "takes portals' HTTP requests and hands them to the services.",
        title: "gateway",
        port: .gatewayPort,
        uses: behindGateway.filter { !$0.gatewayUses.isEmpty }.map {
            BusUse(service: $0, sockets: $0.gatewayUses, isNeededAtStart: $0.gatewayNeed != .reportedByOther)
        },
        stateFiles: ["gateway.json"],
        settings: SettingDeclaration.gatewayAccess + [
            Setting.messageTTL.declaration, Setting.alertTTL.declaration, Setting.fcmTopicPayloadLimit.declaration,
            Setting.gatewayPeopleGrace.declaration,
        ])
}

extension Setting where Value == Int {
    package static let gatewayPort = port("gateway.port", "The gateway's HTTP port.", default: 8_080)
}

extension Setting where Value == Seconds {
    package static let messageTTL = seconds(
        "message.ttl", "For how many seconds a message is worth delivering by default; see MSI_ALERT_TTL.",
        in: 60...2_419_200, default: 2_419_200
    ).changingLive()

    package static let gatewayPeopleGrace = seconds(
        "gateway.people.grace",
        "For how many seconds the gateway works with its copies of credentials and of the cube while their services are away.",
        in: 0...86_400, default: 3_600)
}

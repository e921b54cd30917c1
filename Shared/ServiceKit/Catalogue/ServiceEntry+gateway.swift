package import Time

extension ServiceEntry {
    /// The HTTP server. It uses every service whose entry says so.
    package static let gateway = ServiceEntry(
        "gateway", "takes portals' HTTP requests on 127.0.0.1 and hands them to the services.",
        title: "gateway",
        port: .gatewayPort,
        uses: behindGateway.filter { !$0.gatewayUses.isEmpty }.map { BusUse(service: $0, sockets: $0.gatewayUses) },
        settings: [
            Setting.gatewayCORSOrigins.declaration, Setting.gatewayMaxConnections.declaration, Setting.messageTTL.declaration,
            Setting.alertTTL.declaration, Setting.fcmTopicPayloadLimit.declaration,
        ])
}

extension Setting where Value == Int {
    package static let gatewayPort = port("gateway.port", "The gateway's HTTP port on 127.0.0.1.", default: 8_080)
    package static let gatewayMaxConnections = integer(
        "gateway.max.connections",
        "The maximum number of HTTP connections; on further ones the gateway answers 503, except to GET /health.",
        in: 1...100_000, default: 1_000)
}

extension Setting where Value == Seconds {
    package static let messageTTL = seconds(
        "message.ttl", "For how many seconds a message is worth delivering by default; see MSI_ALERT_TTL.",
        in: 60...2_419_200, default: 2_419_200)
}

extension Setting where Value == [String] {
    package static let gatewayCORSOrigins = Setting(
        "gateway.cors.origins", "Further origins whose pages may call the gateway from a browser.",
        expected: "origins such as https://portal.example.edu, in lower case and without a path, separated by commas", default: ""
    ) { text in
        let origins = items(of: text)
        return origins.allSatisfy(isBrowserOrigin) ? origins : nil
    }
}

extension ServiceEntry {
    /// The service of the information cube.
    package static let cube = ServiceEntry(
        "cube", "keeps the information cube: channels, their areas, their subjects.",
        title: "cube service",
        sockets: [.commands, .events],
        // For the audit log.
        uses: [BusUse(service: .people, sockets: [.commands], isNeededAtStart: false)],
        gatewayUses: [.commands, .events],
        keepsData: true,
        stateFiles: ["cube.sqlite"],
        settings: [Setting.cubeSizeLimit.declaration])
}

extension Setting where Value == Int64 {
    /// The upper bound is the size of a cube that fits into one reply (`CubePages`).
    package static let cubeSizeLimit = bytes(
        "cube.size.limit",
        "The maximum size of all channels, areas and subjects together, in bytes of their JSON; larger additions are refused.",
        in: ("1KiB", "12MiB"), default: "8MiB")
}

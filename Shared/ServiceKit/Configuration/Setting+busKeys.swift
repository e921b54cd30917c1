extension Setting where Value == String {
    package static let busKeyFile = secretFile(
        "bus.key.file",
        "A file with this machine's secret key for tcp:// endpoints of the bus, made by msi keys new. It encrypts them.")

    package static let busPeersFile = text(
        "bus.peers.file",
        "A file with the names and public keys of the machines that may use the bus over tcp://; it is read again when it changes.",
        expected: "a file")
}

extension Setting where Value == Bool {
    package static let busUnencrypted = Setting(
        "bus.unencrypted",
        """
        Whether tcp:// endpoints of the bus may be on other interfaces than the loopback one without keys. Then everyone in that network \
        can read and send commands.
        """,
        expected: "true or false", default: "false"
    ) { ["true": true, "false": false][$0] }
}

extension SettingDeclaration {
    /// The settings of everything that uses the bus.
    package static let bus: [SettingDeclaration] = [
        Setting.busKeyFile.declaration, Setting.busPeersFile.declaration, Setting.busUnencrypted.declaration,
    ]
}

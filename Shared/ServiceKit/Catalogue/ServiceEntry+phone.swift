extension ServiceEntry {
    /// A simulated phone. It is no part of an installation, so it is not in ``all``.
    package static let phone = ServiceEntry(
        "phone", "a simulated phone at the local FCM emulator, with the students' app as a page.",
        title: "phone",
        port: .phonePort,
        stateFiles: ["phones"],
        settings: [
            Setting.phoneName.declaration, Setting.phoneBroadcastsFile.declaration, Setting.phoneBroadcastsURL.declaration,
            Setting.gatewayURL.declaration, Setting.gatewayPort.declaration,
            Setting.fcmEmulatorPort.declaration,
        ])
}

extension Setting where Value == Int {
    package static let phonePort = port("phone.port", "The port of the phone's page on 127.0.0.1.", default: 8_090)
}

extension Setting where Value == String {
    package static let phoneBroadcastsFile = text(
        "phone.broadcasts.file",
        "A file with the broadcasts that ship with the app: a JSON array, each with an id and a relativetime, the hours after the "
            + "installation.",
        expected: "a file")
    package static let phoneBroadcastsURL = Setting(
        "phone.broadcasts.url",
        "The address of a copy of the hub's active broadcasts at another server, which the app reads while the hub is away; without it "
            + "there is none.",
        expected: "an http:// or https:// address"
    ) { $0.hasPrefix("http://") || $0.hasPrefix("https://") ? $0 : nil }
    package static let phoneName = Setting(
        "phone.name", "The phone's name. Each name is a phone of its own, with its own messages.",
        expected: "1 to 40 ASCII letters, digits, - and _", default: "phone"
    ) { text in
        let isValid = text.utf8.allSatisfy {
            $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || Character(UnicodeScalar($0)).isNumber
                || Character(UnicodeScalar($0)).isLetter
        }
        return isValid && (1...40).contains(text.utf8.count) && text.utf8.allSatisfy { $0 < 0x80 } ? text : nil
    }
}

extension ServiceEntry {
    /// The replacement of FCM in development and tests.
    package static let fcmEmulator = ServiceEntry(
        "fcm-emulator",
        "A local Firebase Cloud Messaging for development and tests: sends, topics, phones to receive them, and faults.",
        title: "FCM emulator",
        port: .fcmEmulatorPort,
        stateFiles: [EmulatorAccess.folderName],
        settings: [Setting.fcmEmulatorTopicPayloadLimit.declaration, Setting.fcmEmulatorBehaviourFile.declaration])
}

extension Setting where Value == Int {
    package static let fcmEmulatorPort = port("fcm.emulator.port", "The FCM emulator's HTTPS port on 127.0.0.1.", default: 8_443)
    package static let fcmEmulatorTopicPayloadLimit = integer(
        "fcm.emulator.topic.payload.limit", "The maximum size of a message to a topic, in bytes.",
        in: 1...4_096, default: 4_096)
}

extension Setting where Value == String {
    package static let fcmEmulatorBehaviourFile = text(
        "fcm.emulator.behaviour.file",
        "A JSON file with the emulator's initial faults and limits; see Services/FCMEmulator/API.md.",
        expected: "a file"
    ).readAtStart()
}

import Logging
import ServiceKit

@main
enum Main {
    static func main() {
        let port = Setting<Int>.fcmEmulatorPort
        let limit = Setting<Int>.fcmEmulatorTopicPayloadLimit
        let behaviour = Setting<String>.fcmEmulatorBehaviourFile
        ServiceMain.run(
            "msi-fcm-emulator",
            "A local Firebase Cloud Messaging for development and tests: sends, topics, phones to receive them, and faults.",
            settings: [port.declaration, limit.declaration, behaviour.declaration]
        ) { context in
            let directory = try context.settings.value(.stateDirectory)
            let folder = "\(directory)/fcm-emulator"
            let lock = try StateLock(
                .emulator, .alone, in: directory,
                orElse: "another emulator works with \(folder); this one needs an MSI_STATE_DIR of its own")
            let emulator = try await Emulator(
                folder: folder, port: try context.settings.value(port), topicPayloadLimit: try context.settings.value(limit),
                behaviour: try context.settings.optional(behaviour).map { try Behaviour(file: $0) } ?? Behaviour(),
                logger: context.logger)
            return ServicePlan(
                services: [emulator.server],
                close: {
                    try emulator.close()
                    lock.release()
                },
                whenReady: {
                    let port = try await emulator.announce()
                    context.logger.info(
                        "listening", metadata: ["endpoint": "https://127.0.0.1:\(port)", "ca_file": "\(folder)/ca.pem"])
                })
        }
    }
}

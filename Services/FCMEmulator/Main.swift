import Logging
import ServiceKit

@main
enum Main {
    static func main() async {
        let port = Setting<Int>.fcmEmulatorPort
        let limit = Setting<Int>.fcmEmulatorTopicPayloadLimit
        await ServiceMain.run(
            "msi-fcm-emulator",
            "A local Firebase Cloud Messaging for development and tests: sends, topics, and phones to receive them.",
            settings: [port.declaration, limit.declaration]
        ) { context in
            let folder = "\(try context.settings.value(.stateDirectory))/fcm-emulator"
            let emulator = try await Emulator(
                folder: folder, port: try context.settings.value(port), topicPayloadLimit: try context.settings.value(limit),
                behaviour: try Behaviour(), logger: context.logger)
            return ServicePlan(
                services: [emulator.server],
                close: { try emulator.close() },
                whenReady: {
                    let port = try await emulator.announce()
                    context.logger.info(
                        "listening", metadata: ["endpoint": "https://127.0.0.1:\(port)", "ca_file": "\(folder)/ca.pem"])
                })
        }
    }
}

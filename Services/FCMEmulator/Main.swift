import Base
import Logging
import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(.fcmEmulator, check: { _ = try behaviour($0.settings) }) { context in
            let settings = context.settings
            let directory = try settings.value(.stateDirectory)
            let folder = "\(directory)/\(EmulatorAccess.folderName)"
            let lock = try StateLock(
                .emulator, .alone, in: directory,
                orElse: "another emulator uses \(folder); this one needs its own MSI_STATE_DIR")
            let emulator = try await Emulator(
                folder: folder, port: try settings.value(.fcmEmulatorPort),
                topicPayloadLimit: try settings.value(.fcmEmulatorTopicPayloadLimit),
                behaviour: try behaviour(settings),
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

    private static func behaviour(_ settings: SettingValues) throws -> Behaviour {
        try settings.optional(.fcmEmulatorBehaviourFile).map { try Behaviour(file: $0) } ?? Behaviour()
    }
}

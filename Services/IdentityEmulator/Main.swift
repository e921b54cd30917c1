import Base
import Logging
import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(.identityEmulator) { context in
            let settings = context.settings
            let directory = try settings.value(.stateDirectory)
            let folder = "\(directory)/\(IdentityEmulatorAccess.folderName)"
            let lock = try StateLock(
                file: "\(IdentityEmulatorAccess.folderName).lock", .alone, in: directory,
                orElse: "another identity emulator uses \(folder); this one needs its own MSI_STATE_DIR")
            let emulator = try Emulator(
                folder: folder, port: try settings.value(.identityEmulatorPort), logger: context.logger)
            return ServicePlan(
                services: [emulator.server],
                close: { lock.release() },
                whenReady: {
                    let access = IdentityEmulatorAccess(port: try await emulator.listeningPort())
                    context.logger.info("listening", metadata: ["endpoint": "\(access.url)"])
                })
        }
    }
}

import FoundationEssentials
import TestSupport

/// The FCM emulator's executable, without a quota and without an archive.
enum Emulator {
    /// Starts it.
    ///
    /// - Parameters:
    ///   - executables: The folder of its executable.
    ///   - folder: Its state directory.
    static func start(executables: URL = ServiceProcess.executables, in folder: String) async throws -> ServiceProcess {
        let behaviour = folder + "/behaviour.json"
        try Data(#"{"archive":{"keep":0},"quotas":{"project":[]}}"#.utf8).write(to: URL(filePath: behaviour))
        return try await ServiceProcess(
            "msi-fcm-emulator", in: folder,
            settings: ["MSI_FCM_EMULATOR_PORT": "0", "MSI_FCM_EMULATOR_BEHAVIOUR_FILE": behaviour],
            executables: executables)
    }
}

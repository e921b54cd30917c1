import FoundationEssentials
import TestSupport

/// A sink that answers each send of a relay at once, and what the relay needs for it.
struct RelaySink {
    /// The relay's settings, by their names in the environment.
    let settings: [String: String]
    /// The sink's process.
    let process: Int32

    /// Runs a body while the sink runs.
    ///
    /// - Parameter folder: A new folder for its files.
    static func with<Value>(in folder: String, _ body: (RelaySink) async throws -> Value) async throws -> Value {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let message = try RelayedMessage(in: folder)
        let sink = try await Sink(.immediate, in: folder)
        return try await perform {
            let account = try await message.writeServiceAccount(tokenURI: sink.url + "/token")
            return try await body(
                RelaySink(
                    settings: [
                        "MSI_FCM_ENDPOINT": sink.url, "MSI_FCM_CA_FILE": sink.certificateFile,
                        "MSI_FCM_SERVICE_ACCOUNT_FILE": account,
                    ],
                    process: sink.identifier))
        } finally: {
            await sink.stop()
        }
    }
}

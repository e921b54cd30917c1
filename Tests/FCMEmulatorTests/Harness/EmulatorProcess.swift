import TestSupport

/// The emulator as a process, for tests that need a process, for example to kill it.
struct EmulatorProcess: Sendable {
    let folder: TemporaryFolder
    let port: Int
    private let process: ServiceProcess

    /// Starts it and waits until it is ready.
    ///
    /// - Throws: ``ServiceProcess/StartFailed``.
    init(in folder: TemporaryFolder, port: Int = 0, settings: [String: String] = [:]) async throws {
        self.folder = folder
        try SharedAccount.place(in: folder)
        process = try await ServiceProcess(
            "msi-fcm-emulator", in: folder.path,
            settings: settings.merging(["MSI_FCM_EMULATOR_PORT": String(port)]) { given, _ in given })
        self.port = try process.port
    }

    /// Sends SIGKILL and waits for the end.
    func kill() async { await process.kill() }

    /// Sends SIGTERM and waits for the end.
    ///
    /// - Returns: The exit status.
    func stop() async -> Int32 { await process.stop() }

    func withClient<Result>(_ body: (EmulatorClient) async throws -> Result) async throws -> Result {
        try await EmulatorClient.with(port: port, folder: folder, body)
    }
}

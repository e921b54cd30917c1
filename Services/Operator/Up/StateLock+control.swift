import DurableFiles
import ServiceKit

extension StateLock {
    /// Takes the lock that excludes a second `msi up` or a migration in the same state directory.
    ///
    /// - Throws: ``StateLockFailure``.
    static func control(of directory: String) throws -> StateLock {
        try StateLock(
            .control, .alone, in: directory,
            orElse: "another msi is at work with the state directory \(directory); "
                + "stop it, or give this one its own by MSI_STATE_DIR, MSI_GATEWAY_PORT and MSI_FCM_EMULATOR_PORT")
    }
}

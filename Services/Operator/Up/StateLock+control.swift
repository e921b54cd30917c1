import DurableFiles
import ServiceKit

extension StateLock {
    /// Takes the lock that excludes a second `msi up`, a migration or a restore in the same state directory.
    ///
    /// - Parameter finishesRestore: Whether the caller finishes a restore that was interrupted. Everything else waits for that.
    /// - Throws: ``StateLockFailure``.
    static func control(of directory: String, finishesRestore: Bool = false) throws -> StateLock {
        let lock = try StateLock(
            .control, .alone, in: directory,
            orElse: "another msi is at work with the state directory \(directory); "
                + "stop it, or give this one its own by MSI_STATE_DIR, MSI_GATEWAY_PORT and MSI_FCM_EMULATOR_PORT")
        do {
            if !finishesRestore { try requireNoUnfinishedRestore(in: directory) }
        } catch {
            lock.release()
            throw error
        }
        return lock
    }
}

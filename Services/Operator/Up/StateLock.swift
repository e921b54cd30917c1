import FoundationEssentials
import Glibc

/// Keeps a second `msi up`, or a migration, away from the same state directory. The kernel lets go of it with the process, however it ends.
struct StateLock {
    private let descriptor: Int32

    init(directory: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StartFailure(description: "the state directory \(directory) cannot be made: \(error)")
        }
        let path = directory + "/msi.lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StartFailure(description: "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw StartFailure(
                description: "another msi is at work with the state directory \(directory); "
                    + "stop it, or give this one its own by MSI_STATE_DIR, MSI_GATEWAY_PORT and MSI_FCM_EMULATOR_PORT")
        }
    }

    func release() {
        close(descriptor)
    }
}

import DurableFiles
import Glibc

/// A lock on a part of the state directory. The kernel lets go of it with the process, however it ends.
package struct StateLock: Sendable {
    package enum Part: String {
        /// The right to start the services together, or to move their data.
        case control = "msi.lock"
        /// The SQLite files of the cube and of the messages.
        case data = "data.lock"
        /// What the FCM emulator keeps.
        case emulator = "fcm-emulator.lock"
    }

    package enum Holding {
        case alone
        /// With any number of others that share it.
        case shared
    }

    private let descriptor: Int32

    /// Takes the lock at once, or not at all. Makes the directory where there is none.
    ///
    /// - Parameter refusal: What the operator is told when somebody else has it.
    /// - Throws: ``StateLockFailure``.
    package init(_ part: Part, _ holding: Holding, in directory: String, orElse refusal: String) throws {
        do {
            // The lock's own file may be lost in a power cut: all that it says is gone then in any case.
            try DurableFiles.makeFolder(directory)
        } catch {
            throw StateLockFailure(description: "the state directory \(directory) cannot be made: \(error)")
        }
        let path = directory + "/" + part.rawValue
        // For reading: that is enough for a lock, and possible where the disk has become read-only.
        descriptor = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StateLockFailure(description: "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, (holding == .alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 else {
            let reason = errno
            close(descriptor)
            throw StateLockFailure(
                description: reason == EWOULDBLOCK ? refusal : "\(path) cannot be locked: \(String(cString: strerror(reason)))")
        }
    }

    /// What a service holds while it works with SQLite files, so that nobody copies them meanwhile.
    ///
    /// - Throws: ``StateLockFailure``.
    package static func servingData(in directory: String) throws -> StateLock {
        try StateLock(
            .data, .shared, in: directory,
            orElse: "msi migrate is at work with the data in \(directory); start this service again once that has ended")
    }

    /// To be called once.
    package func release() {
        close(descriptor)
    }
}

/// A part of the state directory could not be locked: why.
package struct StateLockFailure: Error, CustomStringConvertible {
    package let description: String
}

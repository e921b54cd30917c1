import Glibc

/// A lock on a part of the state directory. The kernel releases it when the process ends.
package struct StateLock: Sendable {
    /// A part of the state directory, with the name of its lock file.
    package enum Part: String, CaseIterable {
        /// Held by `msi up`, `msi migrate` and `msi restore`.
        case control = "msi.lock"
        /// The SQLite files of the services. Held by the services, `msi migrate`, `msi backup` and `msi restore`.
        case data = "data.lock"
        /// The FCM emulator's files.
        case emulator = "fcm-emulator.lock"
    }

    /// Who else may hold the lock at the same time.
    package enum Holding {
        /// No other process.
        case alone
        /// Any number of other processes that share it.
        case shared
    }

    private let descriptor: Int32

    /// Takes the lock without waiting. Creates the directory if it is missing.
    ///
    /// - Parameter refusal: The error for the operator if another process holds the lock, without a full stop. The processes that hold it
    ///   are added.
    /// - Throws: ``StateLockFailure``.
    package init(_ part: Part, _ holding: Holding, in directory: String, orElse refusal: String) throws {
        try self.init(file: part.rawValue, holding, in: directory, orElse: refusal)
    }

    /// The same for a file of another name.
    package init(file: String, _ holding: Holding, in directory: String, orElse refusal: String) throws {
        do {
            // The lock's file need not survive a power cut: no process survives it either.
            try DurableFiles.makeFolder(directory)
        } catch {
            throw StateLockFailure(description: "the state directory \(directory) cannot be made: \(error)")
        }
        let path = directory + "/" + file
        // Opened for reading: that is sufficient for a lock, and works on a read-only disk.
        descriptor = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StateLockFailure(description: "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, (holding == .alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 else {
            let reason = errno
            close(descriptor)
            throw StateLockFailure(
                description: reason == EWOULDBLOCK
                    ? ([refusal] + [LockHolder.all(of: path).sentence].compactMap(\.self)).joined(separator: ". ")
                    : "\(path) cannot be locked: \(String(cString: strerror(reason)))")
        }
    }

    /// The lock that a service holds while it uses SQLite files, so that they are not copied meanwhile.
    ///
    /// - Throws: ``StateLockFailure``.
    package static func servingData(in directory: String) throws -> StateLock {
        let lock = try StateLock(
            .data, .shared, in: directory,
            orElse:
                "msi migrate is at work with the data in \(directory), or msi restore; start this service again once that has ended"
        )
        do {
            try requireNoUnfinishedRestore(in: directory)
        } catch {
            lock.release()
            throw error
        }
        return lock
    }

    /// What a service does before it uses the data: it locks SQLite files. Data in MongoDB needs no lock, but may be half restored as well.
    ///
    /// - Parameter file: The SQLite file that the service opens next.
    /// - Returns: `nil` if the data is in MongoDB.
    /// - Throws: ``StateLockFailure``, or ``LostStore`` if the file was there before.
    package static func serving(_ file: String, inMongoDB: Bool, stateDirectory directory: String) throws -> StateLock? {
        guard inMongoDB else {
            let lock = try servingData(in: directory)
            do {
                try KnownStores.requirePresent(file, in: directory)
            } catch {
                lock.release()
                throw error
            }
            return lock
        }
        try requireNoUnfinishedRestore(in: directory)
        return nil
    }

    /// The folder in which `msi restore` has the files that it puts into place. While it exists, some of the files in the state directory
    /// may be old ones and some new ones.
    package static let unfinishedRestore = "restore.ready"
    /// The folder in which it prepares the files, while nothing is changed yet.
    package static let incompleteRestore = "restore.incomplete"
    /// The folder that it removes as its last step.
    package static let doneRestore = "restore.done"

    /// - Throws: ``StateLockFailure`` if `msi restore` was interrupted while it replaced the files.
    package static func requireNoUnfinishedRestore(in directory: String) throws {
        guard access(directory + "/" + unfinishedRestore, F_OK) == 0 else { return }
        throw StateLockFailure(
            description:
                "msi restore was interrupted while it put the data into place in \(directory); run it again to finish that")
    }

    /// The processes that hold a lock now. The lock is not taken.
    package static func holders(of part: Part, in directory: String) -> [LockHolder] {
        LockHolder.all(of: directory + "/" + part.rawValue)
    }

    /// Releases the lock. Call it once.
    package func release() {
        close(descriptor)
    }
}

/// Why a part of the state directory could not be locked.
package struct StateLockFailure: Error, CustomStringConvertible {
    package let description: String
}

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

    /// Takes a lock on a file of another name.
    package init(file: String, _ holding: Holding, in directory: String, orElse refusal: String) throws {
        do {
            // The lock file need not survive a power cut, because no process does.
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

    /// The lock that a service holds while it uses SQLite files, so that they are not copied at the same time.
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

    /// Checks the state directory before a service uses its data, and locks SQLite files. Data in MongoDB needs no lock, but may be
    /// half restored, too.
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

    /// The folder with the files that `msi restore` moves into the state directory. While it exists, the state directory may have both
    /// old and new files.
    package static let unfinishedRestore = "restore.ready"
    /// The folder in which `msi restore` prepares the files before it changes anything.
    package static let incompleteRestore = "restore.incomplete"
    /// The folder that `msi restore` removes as its last step.
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

/// A process that holds a lock of flock(2) on a file, with its description for the operator.
package struct LockHolder: Hashable, Sendable, CustomStringConvertible {
    package let process: Int32
    /// Its program and the first argument, such as `msi up`; empty if unknown.
    package let program: String
    /// Whether a signal has suspended it. It still holds the lock.
    package let isStopped: Bool

    /// `process 123 (msi up), which is stopped: kill -CONT 123`
    package var description: String {
        "process \(process)" + (program.isEmpty ? "" : " (\(program))")
            + (isStopped ? ", which is stopped: kill -CONT \(process)" : "")
    }

    /// The processes that hold a lock on a file, by their ids. The lock is not taken.
    ///
    /// A process that has inherited the open file holds the lock, too, even after the process that took it has ended. Among another
    /// user's processes only the one that took the lock is found. A process in another container is not found.
    package static func all(of path: String) -> [LockHolder] {
        var file = stat()
        guard stat(path, &file) == 0 else { return [] }
        let processes = DurableFiles.names(in: "/proc").compactMap { Int32($0) }
        let open = processes.filter { has(file, lockedBy: $0) }
        let owners = ProcFolder.lines(of: "/proc/locks").compactMap { owner(of: file, in: $0) }
        return Set(open + owners.filter(processes.contains)).sorted().map { LockHolder($0) }
    }

    private init(_ process: Int32) {
        self.process = process
        let words = ProcFolder.text(of: "/proc/\(process)/cmdline").split(separator: "\0", omittingEmptySubsequences: false)
        let name = words.first?.split(separator: "/").last.map(String.init) ?? ""
        // The first argument, unless it is an option or a path.
        let command = words.dropFirst().first.flatMap { $0.allSatisfy(\.isLetter) ? $0 : nil } ?? ""
        let program = command.isEmpty ? name : "\(name) \(command)"
        self.program = String(
            String.UnicodeScalarView(program.unicodeScalars.filter { $0.properties.generalCategory != .control }.prefix(40)))
        // The state follows the program's name, which is in parentheses and may contain any character.
        let state = ProcFolder.text(of: "/proc/\(process)/stat").split(separator: ")").last?.first { $0 != " " }
        isStopped = state == "T" || state == "t"
    }

    /// Whether a process has an open file with a lock. A user sees this for their own processes, root for all.
    private static func has(_ file: stat, lockedBy process: Int32) -> Bool {
        DurableFiles.names(in: "/proc/\(process)/fd").contains { descriptor in
            // stat(2) of an open file would hang if its network file system does not answer.
            let hasLock = ProcFolder.lines(of: "/proc/\(process)/fdinfo/\(descriptor)").contains {
                $0.hasPrefix("lock:") && $0.contains("FLOCK")
            }
            guard hasLock else { return false }
            var other = stat()
            return stat("/proc/\(process)/fd/\(descriptor)", &other) == 0 && other.st_dev == file.st_dev
                && other.st_ino == file.st_ino
        }
    }

    /// The process of a line such as `2: FLOCK  ADVISORY  WRITE 5942 fe:00:16222449 0 EOF`, if it is about the file (proc_locks(5)).
    private static func owner(of file: stat, in line: Substring) -> Int32? {
        let fields = line.split(separator: " ")
        // A process that waits for a lock has "->" before the kind.
        guard fields.count > 5, fields[1] == "FLOCK" else { return nil }
        let place = fields[5].split(separator: ":")
        guard place.count == 3, UInt64(place[2]) == UInt64(file.st_ino), UInt64(place[0], radix: 16) == major(file.st_dev),
            UInt64(place[1], radix: 16) == minor(file.st_dev)
        else { return nil }
        return Int32(fields[4])
    }

    /// The device number as in makedev(3).
    private static func major(_ device: dev_t) -> UInt64 { UInt64(device) >> 8 & 0xfff | UInt64(device) >> 32 & ~0xfff }

    private static func minor(_ device: dev_t) -> UInt64 { UInt64(device) & 0xff | UInt64(device) >> 12 & ~0xff & 0xffff_ffff }
}

extension [LockHolder] {
    private static var maxShown: Int { 3 }

    /// A sentence for the operator; `nil` if there is none.
    package var sentence: String? {
        guard !isEmpty else { return nil }
        let more = count > Self.maxShown ? ["\(count - Self.maxShown) more"] : []
        return "The lock is held by " + (prefix(Self.maxShown).map(\.description) + more).joined(separator: "; ")
    }
}

/// The files of proc(5). A file that this user may not read is empty.
private enum ProcFolder {
    static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while case let count = read(descriptor, &part, part.count), count > 0 { bytes += part.prefix(count) }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func lines(of path: String) -> [Substring] { text(of: path).split(separator: "\n") }
}

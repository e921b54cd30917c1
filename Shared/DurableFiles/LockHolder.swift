import Glibc

/// A process that holds a lock of flock(2) on a file, as the operator is told it.
package struct LockHolder: Hashable, Sendable, CustomStringConvertible {
    package let process: Int32
    /// Its program with the first word after it: `msi up`; empty if that is not known.
    package let program: String
    /// Whether a signal has stopped it: it keeps the lock, and does nothing.
    package let isStopped: Bool

    /// `process 123 (msi up), which is stopped: kill -CONT 123`
    package var description: String {
        "process \(process)" + (program.isEmpty ? "" : " (\(program))")
            + (isStopped ? ", which is stopped: kill -CONT \(process)" : "")
    }

    /// The processes that hold a lock on a file, by their ids. The lock is not taken.
    ///
    /// A process that has inherited the open file holds the lock as well, also after the one that has taken it has ended. Of another
    /// user's processes only the one that has taken the lock is found. One in another container is not.
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
        // Not a flag, and not a path.
        let command = words.dropFirst().first.flatMap { $0.allSatisfy(\.isLetter) ? $0 : nil } ?? ""
        let program = command.isEmpty ? name : "\(name) \(command)"
        self.program = String(
            String.UnicodeScalarView(program.unicodeScalars.filter { $0.properties.generalCategory != .control }.prefix(40)))
        // The state follows the program's name, which is in parentheses and may contain any character.
        let state = ProcFolder.text(of: "/proc/\(process)/stat").split(separator: ")").last?.first { $0 != " " }
        isStopped = state == "T" || state == "t"
    }

    /// Whether a process has an open file with a lock. This user may see it for its own processes, root for all.
    private static func has(_ file: stat, lockedBy process: Int32) -> Bool {
        DurableFiles.names(in: "/proc/\(process)/fd").contains { descriptor in
            // stat(2) of an open file on a network file system that does not answer would wait for it.
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

    /// As in makedev(3).
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

/// The files of proc(5). What this user may not read is empty.
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

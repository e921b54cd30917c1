import FoundationEssentials

/// The syncs of a program and of all processes that it starts, from strace. No other system call stops them.
struct SyncLog {
    /// The file that strace writes, a line for each sync.
    let file: String

    /// The beginning of the program's command. The program has the process that it would have without strace, and strace another one.
    var command: [String] {
        [
            "/usr/bin/strace", "-DD", "--follow-forks", "--seccomp-bpf", "-qq", "-ttt", "--trace=fsync,fdatasync",
            "--signal=none", "-o", file,
        ]
    }

    /// The number of syncs that began in a time, in seconds since 1970.
    func count(_ time: ClosedRange<Double>) throws -> Int {
        // "17433 1795948710.589148 fsync(6) = 0"; a sync that another one interrupts has a second line: "<... fsync resumed>".
        try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").count { line in
            let fields = line.split(separator: " ", maxSplits: 2)
            guard fields.count == 3, !fields[2].hasPrefix("<"), let began = Double(fields[1]) else { return false }
            return time.contains(began)
        }
    }
}

import FoundationEssentials
import TestSupport

/// The `fsync` and `fdatasync` calls of a program and its children, traced by `strace -f -y`. A call is logged before
/// its caller continues.
struct SyncTrace: Sendable {
    private let file: String
    /// A script that runs `msi up` under strace.
    let script: String

    /// - Parameter folder: The folder for the trace and the script.
    init(in folder: String) async throws {
        file = folder + "/syncs"
        script = folder + "/traced"
        // With -D the program is the test's child process, and strace is not.
        let text = """
            #!/bin/sh
            exec strace -D -f -y -qq -e trace=fsync,fdatasync -e signal=none -o '\(file)' '\(try BuiltProduct.path(of: "msi"))' up
            """
        try await ExecutableFile.write(text, to: script)
    }

    /// The number of successful syncs of a file so far.
    ///
    /// - Parameter isRight: Whether a path is the file's.
    func count(where isRight: (Substring) -> Bool) throws -> Int {
        var underWay: [Substring: Bool] = [:]
        var count = 0
        // "17 fsync(5</path>) = 0"; or, if another thread's call interrupts the line, "17 fsync(5</path> <unfinished ...>" and
        // later "17 <... fsync resumed>) = 0".
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
            let thread = line.prefix { $0.isNumber }
            if let path = line.firstMatch(of: /sync\(\d+<(.*)>(\)| <unfinished)/)?.1 {
                underWay[thread] = isRight(path)
            }
            if line.firstMatch(of: /= 0$/) != nil, underWay.removeValue(forKey: thread) == true { count += 1 }
        }
        return count
    }
}

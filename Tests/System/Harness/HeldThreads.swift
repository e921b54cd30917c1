import Foundation
import Glibc
import TestSupport

/// Holds threads of another process in their next system calls of some kinds, as a frozen disk or a fault of the kernel does. `strace`
/// delays the calls, and the threads continue when it ends.
enum HeldThreads {
    /// Whether this process may trace one that is not its child (ptrace(2), Yama).
    static let isPossible =
        FileManager.default.isExecutableFile(atPath: "/usr/bin/strace")
        && (geteuid() == 0 || scope?.hasPrefix("0") ?? true)
    private static let scope = try? String(contentsOfFile: "/proc/sys/kernel/yama/ptrace_scope", encoding: .utf8)

    /// Runs a body while threads are held.
    ///
    /// - Parameters:
    ///   - thread: The beginning of the name of one thread; `nil` for all threads of the process.
    ///   - calls: The names of system calls.
    static func hold<Value>(
        _ process: ServiceProcess, thread: String? = nil, in calls: String, _ body: () async throws -> Value
    ) async throws -> Value {
        let target =
            if let thread { ["-p", "\(try identifier(of: thread, in: process))"] } else { ["-f", "-p", "\(process.identifier)"] }
        let strace = try await ChildProcess(
            URL(filePath: "/usr/bin/strace"),
            target + ["-o", "/dev/null", "-e", "trace=\(calls)", "-e", "inject=\(calls):delay_enter=600000000"],
            environment: [:], logFile: process.logFile + ".strace")
        return try await perform {
            try await strace.waitForLog { $0.contains(" attached") ? () : nil }
            return try await body()
        } finally: {
            await strace.kill()
        }
    }

    private static func identifier(of thread: String, in process: ServiceProcess) throws -> Int32 {
        let tasks = "/proc/\(process.identifier)/task"
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            let name = try String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)
            if name.hasPrefix(thread), let identifier = Int32(task) { return identifier }
        }
        throw TooLate("\(process.name) has no thread \(thread)")
    }
}

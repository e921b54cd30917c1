import Glibc
import Subprocess

extension TerminationStatus {
    /// What became of the process, after its name: `exited with status 1`, `was ended by signal 9 (SIGKILL)`.
    var text: String {
        switch self {
        case .exited(let status): "exited with status \(status)"
        case .signaled(let number): "was ended by signal \(number)" + (Self.signals[number].map { " (\($0))" } ?? "")
        }
    }

    var isSignal: Bool { if case .signaled = self { true } else { false } }

    /// The names of the signals that end programs.
    private static let signals = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT",
        SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGUSR1: "SIGUSR1", SIGSEGV: "SIGSEGV", SIGUSR2: "SIGUSR2",
        SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS",
    ]
}

import Glibc

/// Tells the two meanings of SIGHUP apart: the terminal that the process was started on is gone, or somebody asks for a reload.
package struct TerminalWatch: Sendable {
    private let hadTerminal = TerminalWatch.hasTerminal

    package init() {}

    /// Whether the process had a terminal and has lost it. The kernel fails every operation on a terminal that was hung up.
    package var isGone: Bool { hadTerminal && !Self.hasTerminal }

    private static var hasTerminal: Bool {
        [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].contains { isatty($0) == 1 }
    }
}

import Logging
import Synchronization

/// The minimum level of a process's log lines, which all its loggers share. It may change while they are in use.
final class LogLevel: Sendable {
    private static let all = Logger.Level.allCases.sorted()

    private let index: Atomic<Int>

    init(_ level: Logger.Level) {
        index = Atomic(Self.index(of: level))
    }

    var value: Logger.Level {
        get { Self.all[index.load(ordering: .relaxed)] }
        set { index.store(Self.index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int { all.firstIndex(of: level) ?? 0 }
}

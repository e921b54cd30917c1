import Base
import Dispatch
import Glibc
import Synchronization

/// Writes lines to a descriptor on a dedicated thread, in the order in which they were appended.
///
/// The thread writes a line at once, and those that follow within ``pause`` together after it.
///
/// Callers do not wait for the descriptor's reader. While it is slow, lines wait in memory. Above ``maxWaiting`` they are dropped and
/// counted, as are lines whose write fails, and a report with their number precedes the next line that is kept. Only a caller with an
/// urgent line waits until that one is written, and not long if the reader hangs.
///
/// The writer of standard error loses nothing when the process ends by `exit`. A crash and SIGKILL lose the lines of the last
/// milliseconds, except urgent ones.
final class LineWriter: Sendable {
    static let standardError: LineWriter = {
        let writer = LineWriter(descriptor: STDERR_FILENO)
        atexit { LineWriter.standardError.flush(evenIfHanging: true) }
        return writer
    }()

    /// How long the thread waits after a write, so that a busy service does not wake it for each line.
    private static let pause: useconds_t = 2_000
    /// A reader that takes nothing for so long hangs.
    private static let urgentLimit = Duration.milliseconds(100)
    /// How long the end of the process waits for a slow reader.
    private static let flushLimit = Duration.seconds(1)
    /// A pipe takes as many bytes from one process without those of another one in between (`PIPE_BUF`, pipe(7)).
    private static let maxChunk = 4_096
    /// A buffer that has grown beyond it is not used again.
    private static let maxKeptCapacity = 65_536

    /// A line that says how many were dropped. If it is lost as well, the next report has its number.
    private struct Report {
        /// Where it ends in the waiting bytes.
        let end: Int
        let dropped: Int
    }

    /// One write of the thread.
    private struct Batch {
        var bytes: [UInt8]
        let reports: [Report]
        /// Whether the descriptor has got a part of a line that will not be completed.
        var isInLine: Bool
        /// The lines that could not be written, without reports.
        var lost = 0
        /// The lost lines, and those of lost reports.
        var unreported = 0
    }

    private enum Activity {
        case notStarted
        /// It looks for lines again before it sleeps.
        case busy
        /// It must be woken.
        case sleeping
    }

    /// What a new line needs.
    private enum Need {
        case nothing
        /// There is no room for it.
        case room
        /// There is no thread yet.
        case thread
        /// The thread must be woken.
        case signal
    }

    /// A caller that waits until bytes are written.
    private struct Waiter {
        /// The value of `finished` that it waits for.
        let end: Int
        let isWritten: Latch
    }

    private struct State {
        /// Whole lines.
        var waiting: [UInt8] = []
        /// Those in `waiting`.
        var reports: [Report] = []
        /// An empty buffer for later lines.
        var spare: [UInt8] = []
        var activity = Activity.notStarted
        var isWriting = false
        var isInLine = false
        /// The bytes of all lines that were kept.
        var appended = 0
        /// The bytes of all lines whose write has ended.
        var finished = 0
        /// The dropped lines that no line has reported.
        var unreported = 0
        /// Whether a caller has stopped waiting since the last write.
        var isHanging = false
        var waiters: [Waiter] = []

        /// Notes that there is work.
        ///
        /// - Returns: Whether the thread must be woken.
        mutating func mustWake() -> Bool {
            guard activity == .sleeping else { return false }
            activity = .busy
            return true
        }
    }

    private let descriptor: Int32
    /// The maximum number of bytes that wait, without those of the present write.
    private let maxWaiting: Int
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let dropped = Atomic<Int>(0)

    /// - Parameter descriptor: Must stay open.
    init(descriptor: Int32, maxWaiting: Int = 4 * 1_048_576) {
        self.descriptor = descriptor
        self.maxWaiting = maxWaiting
    }

    /// The lines that were dropped, or could not be written.
    var droppedLines: Int { dropped.load(ordering: .relaxed) }

    /// Takes a line with its line break.
    ///
    /// - Parameters:
    ///   - isUrgent: Whether to wait until it is written.
    ///   - report: Returns a line that says how many were dropped.
    func append(_ line: borrowing JSONBytes, isUrgent: Bool, report: (_ dropped: Int) -> [UInt8]) {
        let line = line.bytes
        let need = state.withLock { state -> Need in
            guard state.waiting.count + line.count <= maxWaiting else {
                state.unreported += 1
                return .room
            }
            if state.unreported > 0 {
                let earlier = report(state.unreported)
                state.waiting += earlier
                state.reports.append(Report(end: state.waiting.count, dropped: state.unreported))
                state.unreported = 0
                state.appended += earlier.count
            }
            state.waiting += line
            state.appended += line.count
            guard state.activity == .notStarted else { return state.mustWake() ? .signal : .nothing }
            state.activity = .busy
            return .thread
        }
        switch need {
        case .room:
            dropped.add(1, ordering: .relaxed)
            return
        case .thread: startThread()
        case .signal: wake.signal()
        case .nothing: break
        }
        if isUrgent { flush(within: Self.urgentLimit, evenIfHanging: false) }
    }

    /// Waits until all lines are written, or the reader hangs.
    ///
    /// - Parameter evenIfHanging: Whether to wait for a reader that has hung since the last write.
    func flush(evenIfHanging: Bool) {
        flush(within: Self.flushLimit, evenIfHanging: evenIfHanging)
    }

    private func flush(within limit: Duration, evenIfHanging: Bool) {
        let (waiter, mustWake) = state.withLock { state -> (Waiter?, Bool) in
            guard state.finished < state.appended else { return (nil, false) }
            let mustWake = state.mustWake()
            guard evenIfHanging || !state.isHanging else { return (nil, mustWake) }
            let waiter = Waiter(end: state.appended, isWritten: Latch())
            state.waiters.append(waiter)
            return (waiter, mustWake)
        }
        if mustWake { wake.signal() }
        guard let waiter, !waiter.isWritten.wait(for: limit) else { return }
        state.withLock { if $0.finished < waiter.end { $0.isHanging = true } }
    }

    // MARK: The thread

    private func startThread() {
        do {
            try DedicatedThread.start { self.run() }
        } catch {
            // The next line tries it again.
            state.withLock { $0.activity = .notStarted }
            while writeBatch() {}
        }
    }

    private func run() {
        while true {
            _ = writeBatch()
            if state.withLock(\.waiters.isEmpty) { usleep(Self.pause) }
            let isIdle = state.withLock { state in
                state.activity = state.waiting.isEmpty ? .sleeping : .busy
                return state.waiting.isEmpty
            }
            if isIdle { wake.wait() }
        }
    }

    /// Writes the lines that wait.
    ///
    /// - Returns: `false` if none waits, or another thread is writing.
    private func writeBatch() -> Bool {
        let taken = state.withLock { state -> Batch? in
            guard !state.isWriting, !state.waiting.isEmpty else { return nil }
            state.isWriting = true
            let batch = Batch(bytes: state.waiting, reports: state.reports, isInLine: state.isInLine)
            state.waiting = state.spare
            state.reports = []
            state.spare = []
            return batch
        }
        guard var batch = taken else { return false }
        write(&batch)
        let count = batch.bytes.count
        batch.bytes.removeAll(keepingCapacity: batch.bytes.capacity <= Self.maxKeptCapacity)
        dropped.add(batch.lost, ordering: .relaxed)
        let reached = state.withLock { [batch] state in
            state.isWriting = false
            state.isHanging = false
            state.isInLine = batch.isInLine
            state.finished += count
            state.unreported += batch.unreported
            state.spare = batch.bytes
            let reached = state.waiters.filter { $0.end <= state.finished }
            state.waiters.removeAll { $0.end <= state.finished }
            return reached
        }
        for waiter in reached { waiter.isWritten.open() }
        return true
    }

    // MARK: The descriptor

    private func write(_ batch: inout Batch) {
        let bytes = batch.bytes
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let end = Self.endOfChunk(rest)
                let chunk = UnsafeRawBufferPointer(rebasing: rest[..<end])
                rest = UnsafeRawBufferPointer(rebasing: rest[end...])
                // The rest of a line is lost; the next one must not continue it.
                if batch.isInLine, writeLineBreak() { batch.isInLine = false }
                let written = batch.isInLine ? 0 : write(chunk)
                guard written < chunk.count else { continue }
                let lost = bytes.count - rest.count - chunk.count + written..<bytes.count - rest.count
                let reports = batch.reports.filter { lost.contains($0.end - 1) }
                let lines = bytes[lost].count { $0 == UInt8(ascii: "\n") } - reports.count
                batch.lost += lines
                batch.unreported += reports.reduce(lines) { $0 + $1.dropped }
                if written > 0 { batch.isInLine = chunk[written - 1] != UInt8(ascii: "\n") }
            }
        }
    }

    /// As many whole lines as fit into ``maxChunk``, but at least one.
    private static func endOfChunk(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard bytes.count > maxChunk else { return bytes.count }
        let lineBreak = UInt8(ascii: "\n")
        let end = bytes[..<maxChunk].lastIndex(of: lineBreak) ?? bytes[maxChunk...].firstIndex(of: lineBreak)
        return end.map { $0 + 1 } ?? bytes.count
    }

    private func writeLineBreak() -> Bool {
        withUnsafeBytes(of: UInt8(ascii: "\n")) { write($0) } == 1
    }

    /// - Returns: The number of bytes that were written: fewer if the reader has gone, or the disk is full.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count > 0 {
                written += count
            } else if count < 0, errno == EAGAIN {
                // Another program has made the open file non-blocking.
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&entry, 1, -1)
            } else if count == 0 || errno != EINTR {
                break
            }
        }
        return written
    }
}

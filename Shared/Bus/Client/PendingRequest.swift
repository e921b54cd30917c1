import FoundationEssentials
import Base
import Schemas
import Synchronization

/// How a request ended.
enum RequestOutcome: Sendable {
    /// A service answered, with success or failure.
    case replied(ReplyStatus, Data)
    case failed(CommandFailure)
}

/// One pending request.
///
/// The waiting task creates it. Once it is submitted, the bus thread owns it, except for the atomic ``isCancelled`` and the
/// continuation, which has a lock.
final class PendingRequest: @unchecked Sendable {
    let id: UInt64
    let header: RequestHeader
    let payload: Data
    let deadline: MonotonicMilliseconds
    /// Whether it was created on the bus thread. Then its task most likely continues there.
    let isLocal: Bool
    /// Set by the cancellation, which may reach the bus thread before the request does.
    let isCancelled = Atomic<Bool>(false)
    /// The continuations are unsafe ones, since checked ones would double the cost of a request. The pool's state machine ends
    /// each request once, and `deinit` asserts that it has ended.
    private let waiting = Mutex(Waiting.noTask)
    /// The outcome of a request that ended while no task waited. It is outside the lock, because the guarded value is copied. It
    /// is set and read only together with ``Waiting/ended``.
    private var outcome: RequestOutcome?

    private enum Waiting {
        case noTask
        /// A task waits for the outcome, or for ``PendingRequest/notifySlow()``.
        case briefly(UnsafeContinuation<RequestOutcome?, Never>)
        case untilTheEnd(UnsafeContinuation<RequestOutcome, Never>)
        /// It ended while no task waited. This can happen between the two waits of a task on the bus thread.
        case ended
    }

    init(id: UInt64, header: RequestHeader, payload: Data, deadline: MonotonicMilliseconds, isLocal: Bool) {
        self.id = id
        self.header = header
        self.payload = payload
        self.deadline = deadline
        self.isLocal = isLocal
    }

    deinit {
        assert(isOver, "a request must end")
    }

    func waitBriefly(with continuation: UnsafeContinuation<RequestOutcome?, Never>) {
        waiting.withLock { $0 = .briefly(continuation) }
    }

    func wait(with continuation: UnsafeContinuation<RequestOutcome, Never>) {
        let hasEnded = waiting.withLock { waiting in
            if case .ended = waiting { return true }
            waiting = .untilTheEnd(continuation)
            return false
        }
        if hasEnded, let outcome { continuation.resume(returning: outcome) }
    }

    /// Resumes the waiting task.
    func complete(_ outcome: RequestOutcome) {
        let waiter = waiting.withLock { waiting in
            let waiter = waiting
            if case .noTask = waiting {
                self.outcome = outcome
                waiting = .ended
            } else {
                waiting = .noTask
            }
            return waiter
        }
        switch waiter {
        case .noTask: break
        case .briefly(let continuation): continuation.resume(returning: outcome)
        case .untilTheEnd(let continuation): continuation.resume(returning: outcome)
        case .ended: assertionFailure("a request ends once")
        }
    }

    /// Resumes the task of the first, short wait with `nil`. The task then waits again.
    func notifySlow() {
        let waiter = waiting.withLock { waiting -> UnsafeContinuation<RequestOutcome?, Never>? in
            guard case .briefly(let continuation) = waiting else { return nil }
            waiting = .noTask
            return continuation
        }
        waiter?.resume(returning: nil)
    }

    private var isOver: Bool {
        waiting.withLock {
            switch $0 {
            case .noTask, .ended: true
            case .briefly, .untilTheEnd: false
            }
        }
    }
}

/// The ids of one client's requests: six random hexadecimal digits, which differ between clients, and a counter of nine digits.
/// A string of fifteen bytes is stored inline, without an allocation.
struct RequestIDFormat {
    private let prefix: UInt64

    init() {
        prefix = UInt64.random(in: 0..<(1 << 24))
    }

    private static let countDigits = 9
    private static let digits = 15

    func text(_ id: UInt64) -> String {
        String(unsafeUninitializedCapacity: Self.digits) { buffer in
            var rest = prefix << (4 * UInt64(Self.countDigits)) | Self.bounded(id)
            for position in (0..<Self.digits).reversed() {
                buffer[position] = UInt8(truncatingIfNeeded: rest).lowHexadecimalDigit
                rest >>= 4
            }
            return Self.digits
        }
    }

    /// The number of an id that this client issued; `nil` for any other text.
    func number(_ text: String) -> UInt64? {
        var text = text
        return text.withUTF8 { number(UnsafeRawBufferPointer($0)) }
    }

    /// Fast path: the number in a header of the common form, a success from a service of this project; `nil`
    /// for any other header.
    func number(ofSuccess header: UnsafeRawBufferPointer) -> UInt64? {
        let (beginning, end): (StaticString, StaticString) = ("{\"id\":\"", "\",\"status\":\"ok\"}")
        let idEnd = beginning.utf8CodeUnitCount + Self.digits
        guard header.count == idEnd + end.utf8CodeUnitCount,
            UnsafeRawBufferPointer(rebasing: header[..<beginning.utf8CodeUnitCount]).spells(beginning),
            UnsafeRawBufferPointer(rebasing: header[idEnd...]).spells(end)
        else { return nil }
        return number(UnsafeRawBufferPointer(rebasing: header[beginning.utf8CodeUnitCount..<idEnd]))
    }

    private func number(_ text: UnsafeRawBufferPointer) -> UInt64? {
        guard text.count == Self.digits else { return nil }
        var value: UInt64 = 0
        var wrong: UInt8 = 0
        for character in text {
            let digit = character.hexadecimalValue
            value = value << 4 | UInt64(digit & 0xF)
            // No digit, or an upper-case one.
            wrong |= digit & 0xF0 | ~character & 0x20
        }
        guard wrong == 0 else { return nil }
        return value >> (4 * UInt64(Self.countDigits)) == prefix ? Self.bounded(value) : nil
    }

    /// The low bits of a number that fit into an id. The counter wraps around after 69 billion requests.
    static func bounded(_ id: UInt64) -> UInt64 {
        id & (1 << (4 * UInt64(countDigits)) - 1)
    }
}

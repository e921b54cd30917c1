import Histogram
import Synchronization

/// How long the calls of each kind took, and how many were refused.
final class CallTimes<Call: CaseIterable & RawRepresentable<String> & Hashable & Sendable>: Sendable {
    /// The calls of one kind.
    struct Kind: Sendable {
        var times = LoadRecorder.histogram()
        /// See ``CallTimes/refusals``.
        var refused = 0
    }

    /// The statuses that are no failures.
    let refusals: Set<UInt>
    private let kinds = Mutex<[Call: Kind]>([:])

    init(refusals: Set<UInt> = []) {
        self.refusals = refusals
    }

    var all: [Call: Kind] { kinds.withLock(\.self) }

    /// Forgets the preparation.
    func begin() { kinds.withLock { $0 = [:] } }

    func add(_ call: Call, _ status: UInt, seconds: Double) {
        let microseconds = UInt64(min(max(seconds * 1_000_000, 0), 3_600_000_000))
        kinds.withLock { kinds in
            kinds[call, default: Kind()].times.record(microseconds)
            if refusals.contains(status) { kinds[call, default: Kind()].refused += 1 }
        }
    }
}

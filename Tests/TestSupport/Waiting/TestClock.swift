package import Base
package import Schemas
import Synchronization

/// The clock of a service in a test. It stands still until the test lets time pass.
package final class TestClock: Sendable {
    private let time: Mutex<UnixMilliseconds>

    package init(_ now: UnixMilliseconds = .now) {
        time = Mutex(now)
    }

    package var now: UnixMilliseconds { time.withLock(\.self) }

    package func pass(_ duration: Milliseconds) { time.withLock { $0 = $0 + duration } }
}

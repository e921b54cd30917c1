import JSON
import Synchronization

/// What a fleet of phones has written so far, line by line.
final class FleetOutput: Sendable {
    private struct State {
        var isReady = false
        /// The messages that every phone has, by `msi_key`.
        var complete: Set<String> = []
        /// On how many phones each message is, at the end.
        var received: [String: Int] = [:]
        var lines: [String] = []
        var hasEnded = false
    }

    /// Enough to explain why a fleet did not start.
    private static let maxLines = 3

    private let state = Mutex(State())

    var isReady: Bool { state.withLock(\.isReady) }
    var hasEnded: Bool { state.withLock(\.hasEnded) }
    /// The last lines.
    var tail: String { state.withLock(\.lines).joined(separator: "\n") }

    func take(_ line: String) {
        let document = try? JSONValue(parsing: Array(line.utf8))
        state.withLock { state in
            state.lines = (state.lines + [line]).suffix(Self.maxLines)
            let key = document?["msi_key"]?.string
            switch document?["message"]?.string {
            case "ready": state.isReady = true
            case "every phone has it": if let key { state.complete.insert(key) }
            case "received": if let key { state.received[key] = document?["phones"]?.string.flatMap { Int($0) } }
            default: break
            }
        }
    }

    func end() {
        state.withLock { $0.hasEnded = true }
    }

    /// How many of these messages every phone has.
    func complete(of keys: Set<String>) -> Int {
        state.withLock { $0.complete.intersection(keys).count }
    }

    /// The report, once the fleet has ended; `nil` if its last line is none.
    func report(accepted: [String]) -> PhoneReport? {
        state.withLock { state in
            guard let line = state.lines.last, let document = try? JSONValue(parsing: Array(line.utf8)) else { return nil }
            return PhoneReport(line: document, received: state.received, accepted: accepted)
        }
    }
}

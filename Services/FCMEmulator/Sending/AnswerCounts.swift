import HTTPTypes
import JSON
import Synchronization

/// The answers to sends by status, since the emulator's start or the last reset.
final class AnswerCounts: Sendable {
    private let counts = Mutex<[Int: Int]>([:])
    /// The key for sends without an answer.
    private static let none = 0

    /// - Parameter status: `nil` for a send without an answer.
    func note(_ status: HTTPResponse.Status?) {
        counts.withLock { $0[status?.code ?? Self.none, default: 0] += 1 }
    }

    func clear() {
        counts.withLock { $0 = [:] }
    }

    /// Counts by status code, in order; `none` for sends without an answer.
    var document: JSONValue {
        .object(
            counts.withLock(\.self).sorted { $0.key < $1.key }.map { code, count in
                .init(code == Self.none ? "none" : String(code), .integer(count))
            })
    }
}

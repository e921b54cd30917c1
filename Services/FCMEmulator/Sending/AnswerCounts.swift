import HTTPTypes
import Synchronization

/// How sends were answered since the emulator started, or since somebody began to count anew.
final class AnswerCounts: Sendable {
    private let counts = Mutex<[Int: Int]>([:])
    /// Stands for no answer at all.
    private static let none = 0

    /// - Parameter status: `nil` for a send without an answer.
    func note(_ status: HTTPResponse.Status?) {
        counts.withLock { $0[status?.code ?? Self.none, default: 0] += 1 }
    }

    func clear() {
        counts.withLock { $0 = [:] }
    }

    /// By status code, in order; `none` for those without an answer.
    var document: JSONValue {
        .object(
            counts.withLock(\.self).sorted { $0.key < $1.key }.map { code, count in
                .init(code == Self.none ? "none" : String(code), .integer(count))
            })
    }
}

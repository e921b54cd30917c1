import FoundationEssentials
import HTTPTransport
import HTTPTypes
import Hummingbird
import Base
import NIOCore
import Schemas
import Synchronization

@testable import FCMEmulator
@testable import FCMRelay

/// The relay's reading of an injected answer: the emulator's bytes, read with the relay's code.
struct OrderedAnswer: Sendable {
    /// A rule of `PUT /emulator/faults`.
    let rule: JSONValue

    struct NoAnswer: Error {}

    /// - Parameter now: The clock of both.
    func reading(at now: UnixMilliseconds) async throws -> FCMAnswer<String> {
        guard case .answer(let answer) = try FaultRule(ControlFields(rule)).fault else { throw NoAnswer() }
        let response = answer.response(to: .send, FaultRule.Subject(topic: "t", target: nil), now: now)
        let bytes = Bytes()
        try await response.body.write(bytes)
        return FCMAnswer.classify(
            HTTPTransportResponse(
                status: Int(response.status.code),
                retryAfter: response.headers[.retryAfter], body: bytes.content.withLock { $0 }),
            now: now)
    }

    /// The error of a component with this answer.
    func failure(at now: UnixMilliseconds) async throws -> SendFailure {
        switch try await reading(at: now) {
        case .refused(let failure), .tokenRefused(let failure): return failure
        case .accepted: throw NoAnswer()
        }
    }

    private final class Bytes: ResponseBodyWriter {
        let content = Mutex(Data())

        func write(_ buffer: ByteBuffer) {
            content.withLock { $0.append(contentsOf: buffer.readableBytesView) }
        }

        func finish(_ trailingHeaders: HTTPFields?) {}
    }
}

import FoundationEssentials
import Base
import Schemas
import TestSupport
import Testing

@testable import Operator

/// `msi status`: what its first line says.
@Suite("Status")
struct StatusTests {
    private static let now = UnixMilliseconds(rawValue: 1_763_712_000_000)

    private func health(_ status: String = "ok", parts: String = "{}") throws -> ProductStatus.Health {
        let json = """
            {"status":"\(status)","services":{"message-log":"ok"},"versions":{},"parts":\(parts),"copies":{}}
            """
        return try JSONCoder.decode(ProductStatus.Health.self, from: Data(json.utf8))
    }

    /// A canary message with this age in seconds.
    private func message(_ age: Int64, isReported: Bool, text: String = "m") -> Message {
        let posted = Self.now - .seconds(age)
        var message = Message(
            msiKey: ObjectID(),
            content: MessageContent(
                title: "t", desc: "d", message: text,
                topicKey: TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()), distribution: .information),
            sender: "canary", timestamp: posted, names: CubeNames(channel: "C", area: "A", subject: "S"),
            expires: posted + 86_400_000, relay: RelayRecord(logged: .information, due: posted))
        if isReported { message.receipts = MessageReceipts(received: 1, opened: 0) }
        return message
    }

    private func status(
        _ health: ProductStatus.Health, _ canary: CanaryState = .notSetUp, _ token: ProductStatus.Token = .usable,
        _ failure: GatewayFailure = GatewayFailure(.notAllowed, "no right"), places: [ProductStatus.Place] = [],
        webPush: WebPushState = .off
    ) -> ProductStatus {
        ProductStatus(
            gateway: "http://h", health: health, places: places, canary: canary,
            messages: .failure(failure), token: token, webPush: webPush, at: Self.now)
    }

    @Test("The summary names the innermost part that is not well, with its message")
    func innermost() throws {
        let parts = """
            {"message-log":{"audit":{"status":"ok"},"relay":{"status":"ok","parts":{"fcm-relay@1":{"status":"ok"},\
            "fcm-relay@2":{"status":"unavailable","message":"no relay is there"}}}},"gateway":{"certificate":{"status":"invalid"}}}
            """
        #expect(
            try health("degraded", parts: parts).summary
                == "degraded (gateway certificate: invalid; message-log relay fcm-relay@2: unavailable: no relay is there)")
        #expect(try health().summary == "ok")
    }

    @Test(
        "A canary is silent if its phone has reported nothing that is younger than five intervals",
        arguments: [
            ([(30, false), (90, false), (150, true)], nil), ([(30, false), (90, false), (299, true)], nil),
            ([(30, false), (90, false), (301, true)], "no message since one of 5 min ago"),
            // The canary itself has a longer interval.
            ([(30, false), (330, false), (640, true)], nil), ([(600, false), (900, false), (1_510, true)], "no message since"),
            // It has begun a short time ago.
            ([(30, false), (90, false), (290, false)], nil),
            ([(30, false), (90, false), (330, false)], "none of the last 3 messages"),
        ] as [([(Int64, Bool)], String?)])
    func silence(ages: [(Int64, Bool)], expected: String?) throws {
        let messages = CanaryMessages(ages.map { message($0.0, isReported: $0.1) })
        let status = status(try health(), .known(messages, interval: 60))
        #expect(status.status == (expected == nil ? .ok : .degraded))
        #expect(status.problems.count == (expected == nil ? 0 : 1))
        if let expected { #expect(status.problems.first?.contains(expected) == true, "\(status.problems)") }
        let first = "\(StatusText(status: status))".split(separator: "\n").first.map(String.init)
        #expect(first?.hasPrefix(expected == nil ? "ok: " : "degraded: ") == true)
        #expect(expected.map { first?.contains($0) == true } ?? true)
        #expect(try JSONValue(parsing: JSONCoder.encode(status))["status"]?.string == status.status.rawValue)
    }

    @Test(
        "The canary's line says how long its last push took, or why none arrives",
        arguments: [
            (.arrived(after: 412), "; its last push arrived after 0.4 s"),
            (.missing(reason: "no push within 300 seconds"), "; no push arrives at it: no push within 300 seconds"),
            (nil, "; it measures no pushes (MSI_CANARY_PUSH_PORT)"),
        ] as [(CanaryText.Push?, String)])
    func pushes(push: CanaryText.Push?, expected: String) throws {
        let last = message(30, isReported: true, text: "\(CanaryText(sent: Self.now, push: push))")
        let canary = CanaryState.known(CanaryMessages([last]), interval: 60)
        let status = status(try health(), canary, webPush: .unknown(problem: "p"))
        let text = "\(StatusText(status: status))"
        #expect(text.hasSuffix(expected), "\(text)")
        let json = try JSONValue(parsing: JSONCoder.encode(status))["canary"]
        #expect((json?["push_after_ms"] == 412) == (push == .arrived(after: 412)))
        #expect(StatusText(status: self.status(try health(), canary)).description.contains("measures no pushes") == false)
    }

    @Test("A canary that has sent nothing is silent; what is not known makes no working product unavailable")
    func unknown() throws {
        #expect(status(try health(), .known(nil, interval: 60)).status == .degraded)
        #expect(status(try health(), .unknown(problem: "p")).status == .unknown)
        #expect(status(try health(), .notSetUp, .refused).status == .unknown)
        #expect(status(try health("degraded"), .unknown(problem: "p"), .refused).status == .degraded)
        #expect(status(try health("unavailable"), .known(nil, interval: 60)).status == .unavailable)
        // A token without the right to read is a choice.
        #expect(status(try health()).status == .ok)
    }

    @Test("Without a token that can be used, or if the messages cannot be counted, the status is not known, and says why")
    func unknownMessages() throws {
        let noToken = status(try health(), .unknown(problem: "no token"), .missing, GatewayFailure(.notAllowed, "no token"))
        #expect(noToken.status == .unknown && noToken.problems == ["no token"])
        let failure = GatewayFailure(.unreachable, "the archive is away")
        let broken = status(try health(), .notSetUp, .usable, failure)
        #expect(broken.status == .unknown && broken.problems == ["messages: not known: the archive is away"])
        #expect(try JSONValue(parsing: JSONCoder.encode(broken))["messages_problem"] == "the archive is away")
        for state in ["degraded", "unavailable"] {
            #expect(status(try health(state), .notSetUp, .missing).status.rawValue == state)
            #expect(status(try health(state), .notSetUp, .usable, failure).status.rawValue == state)
        }
    }

    @Test("The row of a service names all its endpoints")
    func endpoints() throws {
        let places = [ProductStatus.Place(name: "message-log", endpoints: ["ipc://a", "ipc://b"])]
        let lines = "\(StatusText(status: status(try health(), places: places)))".split(separator: "\n")
        // The summary, the columns' names and the gateway's row stand before it. No version is known.
        #expect(lines.dropFirst(3).first == "message-log  ok              ipc://a, ipc://b")
    }
}

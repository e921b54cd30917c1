import FoundationEssentials
import Base
import Schemas
import Testing

/// The commands about pushes, in the form in which other programs send them.
@Suite("Push commands")
struct PushCommandTests {
    private static let plain = #""idempotency_key":"k","fairness_key":"people","message":{"data":{"a":"b"}},"expires":9"#

    private static func log(_ json: String) throws -> LogPush { try LogPush(payload: Data(json.utf8)) }

    /// The invalid field in the error.
    private static func wrongField(_ json: String) -> String? { violation { try log(json) }?.field }

    @Test("A push goes to a topic, to a condition or to tokens, and reads back as it was written")
    func recipients() throws {
        let topic = try Self.log(#"{"topic":"news",\#(Self.plain)}"#)
        #expect(topic.recipients == [.topic("news")] && topic.transport == nil && topic.notBefore == nil)
        let condition = try Self.log(
            #"{"condition":"'a' in topics","not_before":5,"project":"p","transport":"fcm",\#(Self.plain)}"#)
        #expect(condition.recipients == [.condition("'a' in topics")] && condition.notBefore == 5 && condition.project == "p")
        let tokens = try Self.log(#"{"tokens":["a","b"],\#(Self.plain)}"#)
        #expect(tokens.recipients == [.token("a"), .token("b")])
        for command in [topic, condition, tokens] { #expect(try LogPush(payload: command.payload()) == command) }
    }

    @Test("A command that breaks a rule is refused, and the error names the field")
    func rules() {
        #expect(Self.wrongField("{\(Self.plain)}") == "topic")
        #expect(Self.wrongField(#"{"topic":"a","tokens":["t"],\#(Self.plain)}"#) == "tokens")
        #expect(Self.wrongField(#"{"tokens":[],\#(Self.plain)}"#) == "tokens")
        #expect(Self.wrongField(#"{"tokens":["a","a"],\#(Self.plain)}"#) == "tokens[1]")
        let tooMany = (0...PushRecipient.maxTokens).map { "\"t\($0)\"" }.joined(separator: ",")
        #expect(Self.wrongField(#"{"tokens":[\#(tooMany)],\#(Self.plain)}"#) == "tokens")
        #expect(Self.wrongField(#"{"topic":"a","transport":"mail",\#(Self.plain)}"#) == "transport")
        #expect(Self.wrongField(#"{"topic":"a","colour":"red",\#(Self.plain)}"#) == "colour")
        for time in [-1, 9, 10] {
            #expect(Self.wrongField(#"{"topic":"a","not_before":\#(time),\#(Self.plain)}"#) == "not_before")
        }
    }

    @Test("The error for an unknown transport names it and lists the known ones")
    func transport() throws {
        let command = #"{"push_id":"0123456789abcdef01234567","topic":"a","message":{},"transport":"mail"}"#
        let violation = violation(of: RelayPush.self, in: command)
        #expect(violation?.field == "transport")
        #expect(violation?.problem.contains("\"mail\"") == true && violation?.problem.contains("\"fcm\"") == true)
    }

    @Test("A push shows the outcome for each recipient, and its unregistered tokens")
    func document() throws {
        var push = Push(
            sender: "people", idempotencyKey: "k", transport: .fcm, fairnessKey: "f", message: ["data": ["a": "b"]],
            urgency: .normal, logged: 1, expires: 9,
            relay: PushRecord(logged: [.token("a"), .token("b"), .token("c")], due: 1))
        push.relay.recipients[0].state = .accepted
        push.relay.recipients[0].name = "n"
        for (index, code) in [(1, RelayErrorCode.unregistered), (2, .invalidArgument)] {
            push.relay.recipients[index].state = .failed
            push.relay.recipients[index].error = DeliveryError(code)
        }
        #expect(push.unregistered == ["b"])
        let json = String(decoding: try JSONCoder.encode(push), as: UTF8.self)
        #expect(json.contains(#""unregistered":["b"]"#) && json.contains(#"{"name":"n","state":"accepted","token":"a"}"#))
        #expect(try JSONCoder.decode(Push.self, from: Data(json.utf8)) == push)
        #expect(PushEnded(push).unregistered == ["b"])
    }

    @Test("Recipients are stored with every outcome, and equal errors once")
    func storedRecipients() throws {
        let error = DeliveryError(.unregistered)
        var records: [RecipientRecord] = (0..<9).map { RecipientRecord(recipient: .token("t\($0)")) }
        for (index, state) in [DeliveryState.accepted, .failed, .expired, .recalled, .accepted].enumerated() {
            records[index].state = state
        }
        (records[0].name, records[0].acceptedAt) = ("n0", 5)
        // Without a name, as no relay of this product answers.
        records[4].acceptedAt = 6
        (records[1].error, records[2].error, records[7].error) = (error, DeliveryError(.paced, retryAfter: 5), error)
        let mixed: [PushRecipient] = [.topic("a"), .token("b"), .condition("'c' in topics")]
        for records in [records, Array(records[5...]), mixed.map { RecipientRecord(recipient: $0) }, []] {
            let json = try JSONCoder.encode(StoredRecipients(records))
            #expect(try JSONCoder.decode(StoredRecipients.self, from: json).records == records)
        }
        let json = String(decoding: try JSONCoder.encode(StoredRecipients(records)), as: UTF8.self)
        #expect(json.contains(#""states":"Aferapppp""#))
        #expect(json.contains(#""of":[1,7]"#) && json.contains(#""names":["n0"]"#))
        #expect(json.contains(#""accepted":[{"at":5,"count":1},{"count":3},{"at":6,"count":1},{"count":4}]"#))
    }

    @Test(
        "Stored recipients that another program has damaged are unreadable",
        arguments: [
            #"{"texts":["a"],"states":""}"#, #"{"texts":["a"],"states":"x"}"#, #"{"texts":["a"],"states":"A"}"#,
            #"{"texts":["a"],"states":"p","accepted":[{"count":2}]}"#, #"{"texts":["a"],"states":"p","accepted":[{"count":-1}]}"#,
            #"{"texts":["a"],"states":"p","kinds":["phone"]}"#, #"{"texts":["a"],"states":"p","kinds":[]}"#,
            #"{"texts":["a"],"states":"f","errors":[{"error":{"class":"permanent","code":"C","message":"m"},"of":[1]}]}"#,
        ])
    func damagedRecipients(json: String) {
        #expect(throws: SchemaViolation.self) { try JSONCoder.decode(StoredRecipients.self, from: Data(json.utf8)) }
    }

    @Test("A repeated push may spell its numbers differently; another number is another push")
    func sameCommand() throws {
        func push(_ message: String) throws -> Push {
            Push(
                sender: "people", idempotencyKey: "k", transport: .fcm,
                fairnessKey: "f", message: try JSONCoder.decode(from: Data(message.utf8)), urgency: .normal, logged: 1,
                expires: 9, relay: PushRecord(logged: [.topic("a")], due: 1))
        }
        func message(_ badge: String) -> String { #"{"apns":{"payload":{"aps":{"badge":\#(badge),"x":[1]}}}}"# }
        let first = try push(message("1"))
        for badge in ["1.0", "1e0", "10e-1"] { #expect(try push(message(badge)).isSameCommand(as: first), "\(badge)") }
        #expect(try push(#"{"apns":{"payload":{"aps":{"x":[1.0],"badge":1}}}}"#).isSameCommand(as: first))
        for badge in ["2", "-1", "1.5", "\"1\"", "true"] {
            #expect(try !push(message(badge)).isSameCommand(as: first), "\(badge)")
        }
        #expect(try !push(message("9007199254740993")).isSameCommand(as: push(message("9007199254740992"))))
        // The number keeps its sender's spelling.
        #expect(String(decoding: try JSONCoder.encode(push(message("1.50"))), as: UTF8.self).contains(#""badge":1.50"#))
    }

    @Test("Results are in the recipients' order")
    func results() throws {
        let reply = RelayPush.Reply(results: [
            SendResult(.success("n")), SendResult(.failure(DeliveryError(.paced, retryAfter: 5))),
        ])
        let json = String(decoding: try JSONCoder.encode(reply), as: UTF8.self)
        #expect(json.hasPrefix(#"{"results":[{"name":"n"},{"error":{"class":"retryable","code":"PACED""#))
        #expect(try JSONCoder.decode(RelayPush.Reply.self, from: Data(json.utf8)) == reply)
        let unusual = RelayPush.Reply(results: [SendResult(.failure(DeliveryError(.expired, "\"é\"\n")))])
        for reply in [reply, unusual, RelayPush.Reply(results: [])] {
            let fast = try RelayPush.payload(of: reply)
            #expect(try fast == JSONCoder.encode(reply) && RelayPush.reply(payload: fast) == reply)
        }
    }

    @Test("Each error code has a class and its own text, and says whether FCM may have accepted the message")
    func codes() {
        for code in RelayErrorCode.allCases {
            #expect(!code.text.isEmpty)
            #expect(code.acceptance != .possible || code.class == .retryable, "\(code)")
        }
        let keptBack = RelayErrorCode.allCases.filter(\.isKeptBack).map(\.rawValue).sorted()
        #expect(
            keptBack == ["CIRCUIT_OPEN", "NO_TIME", "OAUTH", "OVERLOADED", "PACED", "PROJECT_PAUSED", "STOPPED", "TOPIC_PAUSED"])
        let possible = RelayErrorCode.allCases.filter { $0.acceptance == .possible }.map(\.rawValue).sorted()
        #expect(possible == ["BAD_ANSWER", "NETWORK", "RELAY_INTERNAL", "RELAY_NO_ANSWER", "STOPPING", "TIMEOUT"])
    }
}

/// The catalogue of error codes in the relay's documentation.
@Suite("Documented error codes")
struct DocumentedErrorCodeTests {
    @Test("The relay's page has a line for each code, with its class, its meaning, and whether FCM may have accepted the message")
    func page() throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let page = try String(contentsOf: root.appending(path: "Services/FCMRelay/API.md"), encoding: .utf8)
        for code in RelayErrorCode.allCases {
            let origin =
                switch code.origin {
                case .fcm: "FCM"
                case .relay: "the relay"
                case .messageLog: "the message log"
                }
            let acceptance =
                switch code.acceptance {
                case .no: "no"
                case .notAsked: "no, it was not asked"
                case .possible: "possibly"
                }
            let line = "| `\(code.rawValue)` | \(origin) | \(code.class.rawValue) | \(acceptance) | \(code.text) |"
            #expect(page.contains(line), "\(line)")
        }
    }
}

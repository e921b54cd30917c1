import Base
import Schemas
import Testing

@testable import FCMRelay

/// The history of a message's components, with a test clock.
@Suite("Commands that come twice")
struct SendHistoryTests {
    private typealias History = SendHistory<Int>

    private static let start = ContinuousClock.now
    private static let both = [Component.notification, .data]
    private static let error = DeliveryError(class: .retryable, code: "UNAVAILABLE", message: "later")

    private static func outcomes(_ results: [(Component, Result<String, DeliveryError>)]) -> [ComponentOutcome] {
        results.map { ComponentOutcome(component: $0.0, result: $0.1) }
    }

    /// As text, since decisions are not comparable.
    private static func words(_ decisions: [History.Decision]?) -> [String]? {
        decisions?.map { decision in
            switch decision {
            case .send: "send"
            case .join(let shared): "join \(shared)"
            case .accepted(let name): name
            }
        }
    }

    @Test("Equal commands share a component that is in flight, and all get its outcome")
    func joining() {
        var history = History(maxRemembered: 10_000)
        let key = SendKey(.sample())
        #expect(history.begin([.data], of: key, shared: { 0 }) == nil)
        #expect(Self.words(history.begin(Self.both, of: key, shared: { 1 })) == ["send", "join 1"])
        #expect(Self.words(history.begin(Self.both, of: key, shared: { 2 })) == ["join 2", "join 1"])
        let told = history.end(Self.outcomes([(.data, .success("d"))]), of: key, at: Self.start)
        #expect(told.map(\.shared) == [1])
        #expect(told.map(\.result) == [.success("d")])
        let others = history.end(Self.outcomes([(.notification, .failure(Self.error))]), of: key, at: Self.start)
        #expect(others.map(\.result) == [.failure(Self.error)])
        // Accepted components are not sent again; the others are.
        #expect(Self.words(history.begin(Self.both, of: key, shared: { 3 })) == ["send", "d"])
    }

    @Test("A component that FCM has not accepted is not remembered")
    func failures() {
        var history = History(maxRemembered: 10_000)
        let key = SendKey(.sample())
        for _ in 0..<3 {
            #expect(history.begin(Self.both, of: key, shared: { 0 }) == nil)
            let results = Self.both.map { ($0, Result<String, DeliveryError>.failure(Self.error)) }
            #expect(history.end(Self.outcomes(results), of: key, at: Self.start).isEmpty)
        }
    }

    @Test("An accepted component is remembered for two minutes, and for ten thousand messages")
    func memory() {
        var history = History(maxRemembered: 10_000)
        let keys = (0...10_000).map { _ in SendKey(.sample()) }
        for key in keys {
            #expect(history.begin([.data], of: key, shared: { 0 }) == nil)
            _ = history.end(Self.outcomes([(.data, .success("d"))]), of: key, at: Self.start)
        }
        #expect(history.begin([.data], of: keys[0], shared: { 0 }) == nil, "one too many")
        #expect(Self.words(history.begin([.data], of: keys[1], shared: { 0 })) == ["d"])
        let other = SendKey(.sample())
        _ = history.begin([.data], of: other, shared: { 0 })
        _ = history.end(Self.outcomes([(.data, .success("o"))]), of: other, at: Self.start + .seconds(121))
        #expect(history.begin([.data], of: keys[1], shared: { 0 }) == nil, "too long ago")
        #expect(Self.words(history.begin([.data], of: other, shared: { 0 })) == ["o"])
    }

    @Test("Components that FCM has accepted one after another are remembered until two minutes after the last one")
    func components() {
        var history = History(maxRemembered: 10)
        let key = SendKey(.sample())
        _ = history.begin(Self.both, of: key, shared: { 0 })
        _ = history.end(Self.outcomes([(.data, .success("d")), (.notification, .failure(Self.error))]), of: key, at: Self.start)
        #expect(Self.words(history.begin(Self.both, of: key, shared: { 0 })) == ["send", "d"])
        let later = Self.start + .seconds(100)
        _ = history.end(Self.outcomes([(.notification, .success("n"))]), of: key, at: later)
        func sendOther(at moment: ContinuousClock.Instant) {
            let other = SendKey(.sample())
            _ = history.begin([.data], of: other, shared: { 0 })
            _ = history.end(Self.outcomes([(.data, .success("o"))]), of: other, at: moment)
        }
        sendOther(at: later + .seconds(120))
        #expect(Self.words(history.begin(Self.both, of: key, shared: { 0 })) == ["n", "d"])
        sendOther(at: later + .seconds(121))
        #expect(!history.knows(key))
    }

    @Test("The same key with other contents, or another recipient, is another message")
    func contents() {
        let message = RelayMessage.sample()
        func key(_ target: RelayTarget = .topic, text: String = "Line 1", timestamp: UnixMilliseconds = 1) -> SendKey {
            var draft = message.content
            draft.message = text
            return SendKey(RelayMessage(msiKey: message.msiKey, timestamp: timestamp, content: draft, target: target))
        }
        #expect(key() == key())
        #expect(Set([key(), key(.token("a")), key(.token("b")), key(text: "Line 2"), key(timestamp: 2)]).count == 5)
        // The time to live changes with every attempt.
        let later = RelayMessage(
            msiKey: message.msiKey, timestamp: message.timestamp, content: message.content, expires: 1, components: [.data])
        #expect(SendKey(later) == SendKey(message))
    }

    @Test("Each recipient of a push has its own key, with the message in it, and other recipients do not change it")
    func pushes() {
        let id = ObjectID()
        func keys(of tokens: [String], _ message: JSONValue = ["data": ["a": "b"]]) -> [SendKey] {
            let recipients = tokens.map(PushRecipient.token)
            return SendKey.keys(of: RelayPush(pushID: id, recipients: recipients, message: message), to: recipients)
        }
        let all = keys(of: ["1", "2", "3"])
        #expect(Set(all + keys(of: ["1"], ["data": ["a": "c"]])).count == 4)
        #expect(keys(of: ["3", "1"]) == [all[2], all[0]])
    }

    @Test("A push's message is hashed once, and not for each recipient")
    func largePush() {
        let message: JSONValue = ["data": ["a": .string(String(repeating: "x", count: 4_000_000))]]
        func time(_ recipients: Int) -> Duration {
            let tokens = (0..<recipients).map { PushRecipient.token("\($0)") }
            let push = RelayPush(pushID: ObjectID(), recipients: tokens, message: message)
            return ContinuousClock().measure { #expect(SendKey.keys(of: push, to: tokens).count == recipients) }
        }
        // The machine may be busy with other tests.
        let (one, many) = (time(1), (0..<3).map { _ in time(1_000) }.min() ?? .zero)
        // A hash for each recipient would take a thousand times as long.
        #expect(many < one * 100)
    }

    @Test("Of a push's recipients, those that are sent to, or that FCM has accepted, are told apart in their order")
    func recipients() {
        let tokens = (0..<4).map { PushRecipient.token("\($0)") }
        let keys = SendKey.keys(of: RelayPush(pushID: ObjectID(), recipients: tokens, message: [:]), to: tokens)
        var history = History(maxRemembered: 10)
        #expect(history.begin(.data, of: keys[1...2], shared: { 0 }) == nil)
        #expect(Self.words(history.begin(.data, of: keys, shared: { 1 })) == ["send", "join 1", "join 1", "send"])
        let told = history.end(.data, [.success("a"), .failure(Self.error)], of: keys[1...2], at: Self.start)
        #expect(told.map(\.result) == [.success("a"), .failure(Self.error)])
        _ = history.end(.data, [.success("b"), .success("c")], of: [keys[0], keys[3]], at: Self.start)
        #expect(Self.words(history.begin(.data, of: keys, shared: { 2 })) == ["b", "a", "send", "c"])
    }

    @Test("A command that shares a send waits no longer than its own deadline")
    func deadline() async {
        let shared = SharedOutcome()
        #expect(await shared.value(by: .now + .milliseconds(50)) == nil)
        #expect(await shared.value(by: .now - .milliseconds(50)) == nil)
        async let waiting = shared.value(by: .now + .seconds(30))
        shared.resolve(.success("n"))
        #expect(await waiting == .success("n"))
        #expect(await shared.value(by: .now + .seconds(30)) == .success("n"))
    }
}

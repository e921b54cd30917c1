import Base
import Schemas
import Synchronization
import Testing

@testable import MessageLog

/// The commands of a push to persons: one for each language of a transport's devices.
@Suite("Commands of a push to persons")
struct PersonCommandTests {
    /// A relay that answers by the recipients of a command.
    private struct Answering: Relay {
        let answer: @Sendable (RelayPush) -> Result<[Result<String, DeliveryError>], CommandFailure>

        func relay(_ command: RelayMessage, by end: UnixMilliseconds) async throws(CommandFailure) -> [ComponentOutcome] {
            Issue.record("there is no message")
            return []
        }

        func relay(
            _ command: RelayPush, by end: UnixMilliseconds
        ) async throws(CommandFailure) -> [Result<String, DeliveryError>] {
            try answer(command).get()
        }
    }

    private static let devices = [
        ReachedDevice.phone(of: .ann, "en"), .phone(of: .ann, "ar", language: "ar-EG"), .phone(of: .ben, "none", language: nil),
        .browser(of: .ben, "sub", language: "fi"),
    ]

    /// A push to them, and what its turn knows.
    private static func push() throws -> (Push, PersonAddresses) {
        let content = try #require(try StoredPersonPush(LogPush.persons(to: [.ann, .ben])))
        let push = Push(
            sender: "people", idempotencyKey: "k", transport: .webpush, fairnessKey: "friends", message: try content.json,
            urgency: .high, logged: 1, expires: 9_000,
            relay: PushRecord(logged: devices.map(\.recipient), by: .webpush, due: 1, expires: 9_000))
        return (push, PersonAddresses(content, devices))
    }

    @Test("Devices with the same text share a command, which has their addresses and nothing of the persons")
    func languages() throws {
        let (push, addresses) = try Self.push()
        let commands = addresses.commands(for: push.relay.pendingParts(of: .fcm), of: push, by: .fcm)
        #expect(commands.count == 2)
        let english = try #require(commands.first { $0.parts == [0, 2] }).relay
        let arabic = try #require(commands.first { $0.parts == [1] }).relay
        #expect(english.recipients == [.token("en"), .token("none")] && arabic.recipients == [.token("ar")])
        #expect(english.message["notification"]?["title"]?.string == "You have a friend request")
        #expect(arabic.message["notification"]?["title"]?.string == "لديك طلب صداقة")
        #expect(commands.allSatisfy { $0.relay.pushID == push.id && $0.relay.expires == 9_000 && $0.relay.project == nil })

        let browsers = addresses.commands(for: push.relay.pendingParts(of: .webpush), of: push, by: .webpush)
        #expect(browsers.map(\.parts) == [[3]])
        let message = try WebPushMessage(try #require(browsers.first).relay.message)
        #expect(message.payload["notification"]?["lang"]?.string == "en" && message.urgency == .high)
        #expect(message.payload["notification"]?["navigate"]?.string == "#people/requests")
        #expect(message.payload["msi"]?["kind"]?.string == "friend_request")
        for command in commands + browsers {
            let json = String(decoding: try command.relay.payload(), as: UTF8.self)
            for name in ["ann", "ben"] { #expect(!json.contains("\"\(name)\"")) }
        }
    }

    @Test("If one of the commands is not answered, the outcomes of the others are kept, and its parts are tried again")
    func partial() async throws {
        let (push, addresses) = try Self.push()
        let commands = addresses.commands(for: [0, 1, 2], of: push, by: .fcm)
        for (failure, code) in [
            (CommandFailure(.unavailable, "connection lost, outcome unknown"), "RELAY_NO_ANSWER"),
            (CommandFailure(.unavailable, "no connection"), "RELAY_UNREACHABLE"),
            (CommandFailure(.invalid, "not like this"), "RELAY_INVALID"),
        ] {
            let relay = Answering { command in
                command.recipients == [.token("ar")] ? .failure(failure) : .success(command.recipients.map { .success($0.text) })
            }
            let results = try await relay.relay(commands, by: 9_000).sorted { $0.part < $1.part }
            #expect(results.map(\.part) == [0, 1, 2])
            #expect(results[0].result == .success("en") && results[2].result == .success("none"))
            guard case .failure(let error) = results[1].result else { throw failure }
            #expect(error.code == code)
        }
    }

    @Test("If no command is answered, the attempt fails as a whole: with what may have been done, if there is such a failure")
    func unanswered() async throws {
        let (push, addresses) = try Self.push()
        let commands = addresses.commands(for: [0, 1, 2], of: push, by: .fcm)
        let lost = CommandFailure(.unavailable, "connection lost, outcome unknown")
        let relay = Answering { command in
            .failure(command.recipients == [.token("ar")] ? lost : CommandFailure(.unavailable, "no connection"))
        }
        let failure = await #expect(throws: CommandFailure.self) { _ = try await relay.relay(commands, by: 9_000) }
        #expect(failure == lost)
    }
}

import JSON
import Schemas
import Testing
import Time

@testable import Operator

/// The broadcast that `msi broadcast send` makes of a file.
@Suite("msi broadcast send")
struct SendBroadcastTests {
    private static let now: UnixMilliseconds = 1_795_262_462_399

    private static func draft(id: Int64? = 7, epoch: BroadcastEpoch? = nil, expiry: Int? = 60) -> BroadcastDraft {
        BroadcastDraft(
            id: id, type: .downtime, epoch: epoch, expiry: expiry,
            actionData: BroadcastActionData(translations: ["en": .init(title: "a", msg: "b")]))
    }

    private static func broadcast(_ draft: BroadcastDraft) throws -> Broadcast {
        try SendBroadcast.broadcast(draft, language: "en", now: now)
    }

    private static func field(_ draft: BroadcastDraft, language: String = "en") -> String? {
        do throws(SchemaViolation) {
            _ = try SendBroadcast.broadcast(draft, language: language, now: now)
            return nil
        } catch {
            return error.field
        }
    }

    @Test("It is the first version, and the hub makes the same one of its document later")
    func sameLater() throws {
        let sent = try Self.broadcast(Self.draft())
        #expect(sent.version == 1 && sent.recipients == [.topic("general")])
        let written = try WrittenBroadcast(sent.document(in: .agreed).data)
        let entered = Broadcast(written.draft, id: 7, language: "en", sender: "ann", now: Self.now + .seconds(1_800))
        #expect(PhoneBroadcast(entered) == PhoneBroadcast(sent))
    }

    @Test("What it cannot send is named")
    func refusals() {
        #expect(Self.field(Self.draft()) == nil)
        #expect(Self.field(Self.draft(id: nil)) == "id")
        #expect(Self.field(Self.draft(expiry: nil)) == "expiry")
        #expect(Self.field(Self.draft(epoch: BroadcastEpoch(Self.now + .seconds(60)))) == "epoch")
        #expect(Self.field(Self.draft(epoch: BroadcastEpoch(Self.now + .seconds(-7_200)))) == "expiry")
        #expect(Self.field(Self.draft(), language: "ar") == "actiondata.translations.ar")
    }

    @Test("Its phones are those of its channels, or of its condition")
    func recipients() throws {
        var draft = Self.draft()
        draft.condition = "'a' in topics"
        #expect(try Self.broadcast(draft).recipients == [.condition("'a' in topics")])
        draft.condition = nil
        let channel = ObjectID()
        draft.channels = [channel]
        #expect(try Self.broadcast(draft).recipients == [.topic(channel.description)])
    }
}

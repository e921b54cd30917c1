import FoundationEssentials
import Glibc
import Base
import Schemas
import TestSupport
import Testing

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

    @Test("It is the first version, and the hub makes the same one of its document later, without a second pop-up")
    func sameLater() throws {
        let sent = try Self.broadcast(Self.draft())
        #expect(sent.version == 1 && sent.recipients == [.topic("general")])
        let again = try Self.entered(SendBroadcast.line(sent))
        #expect(PhoneBroadcast(again) == PhoneBroadcast(sent))
        let entered = try Self.entered(SendBroadcast.lineForHub(sent))
        #expect(entered.actionData.popup == false && entered.starts == sent.starts && entered.expires == sent.expires)
        #expect(entered.actionData.translations == sent.actionData.translations && entered.version == 1)
        #expect(try BroadcastPopup(PhoneBroadcast(entered), maxBytes: 4_096) == nil)
        var other = Self.draft()
        other.type = .others
        let line = try SendBroadcast.lineForHub(try Self.broadcast(other))
        #expect(!line.contains("popup"))
    }

    /// What the hub makes of a line, half an hour later.
    private static func entered(_ line: String) throws -> Broadcast {
        let written = try WrittenBroadcast(Data(line.utf8))
        return Broadcast(written.draft, id: 7, language: "en", sender: "ann", now: now + .seconds(1_800))
    }

    @Test("Without an id it gets the time's, and with the line it has the same one")
    func chosenID() throws {
        let sent = try Self.broadcast(Self.draft(id: nil))
        #expect(sent.id == 1_795_262_462)
        #expect(try WrittenBroadcast(Data(SendBroadcast.line(sent).utf8)).draft.id == sent.id)
        #expect(try WrittenBroadcast(Data(SendBroadcast.lineForHub(sent).utf8)).draft.id == sent.id)
    }

    @Test("Sent again, each message is the same push to the relay; another text or recipient is another one")
    func pushIDs() throws {
        var draft = Self.draft()
        draft.channels = (0..<6).map { _ in ObjectID() }
        let sent = try Self.broadcast(draft)
        let parts = try SendBroadcast.pushes(of: sent, maxBytes: 4_096)
        #expect(parts.map(\.name) == Array(repeating: "data", count: 6) + ["pop-up", "pop-up"])
        #expect(Set(parts.map(\.push.pushID)).count == 8)
        let written = try WrittenBroadcast(Data(SendBroadcast.line(sent).utf8))
        let again = try SendBroadcast.broadcast(written.draft, language: "en", now: Self.now + .seconds(60))
        #expect(try SendBroadcast.pushes(of: again, maxBytes: 4_096).map(\.push) == parts.map(\.push))
        draft.id = 8
        let other = try SendBroadcast.pushes(of: try Self.broadcast(draft), maxBytes: 4_096)
        #expect(Set((parts + other).map(\.push.pushID)).count == 16)
    }

    @Test("Each recipient has a line; one that failed, or was not answered, is counted")
    func failures() throws {
        var draft = Self.draft()
        draft.channels = [ObjectID(), ObjectID(), ObjectID(), ObjectID()]
        let parts = try SendBroadcast.pushes(of: try Self.broadcast(draft), maxBytes: 4_096)
        let refused = DeliveryError(class: .permanent, code: "INVALID_ARGUMENT", message: "no")
        let answers: [Result<RelayPush.Reply, CommandFailure>] = [
            .success(RelayPush.Reply(results: [SendResult(.success("projects/p/messages/1"))])),
            .success(RelayPush.Reply(results: [SendResult(.failure(refused))])),
            .failure(CommandFailure(.deadlineExceeded, "late")), .failure(CommandFailure(.overloaded, "busy")),
        ]
        var sent = SendBroadcast.Sent()
        for (part, answer) in zip(parts, answers) { SendBroadcast.note(answer, of: part, in: &sent) }
        #expect(sent.failures == 3 && sent.unknown == 1 && sent.errors.count == 2)
        let ends = ["data: projects/p/messages/1", "not accepted: INVALID_ARGUMENT: no", "no answer: late", "refused: busy"]
        #expect(sent.lines.count == 4 && zip(sent.lines, ends).allSatisfy { $0.hasSuffix($1) }, "\(sent.lines)")
    }

    @Test("An export replaces files and links in their folder, and writes to pipes")
    func exportPlaces() async throws {
        try await withTemporaryFolder { folder in
            let (file, link, pipe) = (folder + "/a", folder + "/b", folder + "/c")
            #expect(!ExportBroadcasts.exists(file))
            try Data("x".utf8).write(to: URL(filePath: file))
            #expect(symlink("/dev/null", link) == 0 && mkfifo(pipe, 0o600) == 0)
            #expect(ExportBroadcasts.exists(file) && !ExportBroadcasts.isWrittenTo(file))
            #expect(ExportBroadcasts.exists(link) && !ExportBroadcasts.isWrittenTo(link))
            #expect(!ExportBroadcasts.exists(pipe) && ExportBroadcasts.isWrittenTo(pipe))
            #expect(ExportBroadcasts.isWrittenTo("/dev/stdout") && !ExportBroadcasts.exists("-"))
        }
    }

    @Test("An export says how many broadcasts are in it")
    func exportSummary() throws {
        let broadcast = PhoneBroadcast(try Self.broadcast(Self.draft()))
        let withdrawn = WithdrawnBroadcast(id: 7, version: 2, expires: 5)
        func summary(_ broadcasts: [PhoneBroadcast]) -> String {
            ExportBroadcasts.summary(of: ActiveBroadcasts(broadcasts: broadcasts, withdrawn: [withdrawn]), in: "b.json")
        }
        #expect(summary([broadcast]) == "b.json: 1 active broadcast, 1 withdrawn or over")
        #expect(summary([]) == "b.json: 0 active broadcasts, 1 withdrawn or over")
    }

    @Test("What it cannot send is named")
    func refusals() {
        #expect(Self.field(Self.draft()) == nil)
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

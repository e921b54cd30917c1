import Base
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// What is left in the files of SQLite of a message that was removed.
@Suite("Traces of removed messages", .timeLimit(.minutes(10)))
struct TracesTests {
    private static let text = "a lighthouse on a hill"
    private static let palette = "the-colours-of-a-picture-of-a-lighthouse-at-dusk"

    @Test("Neither the file nor its write-ahead log has the text after a while; a reader holds that up, and the log says so")
    func traces() async throws {
        try await RemovalHarness.with(.sqlite) { harness in
            let traces = harness.removals.traces
            let running = Task { await traces.run() }
            defer { running.cancel() }
            let sent = try await harness.send(Self.text, from: "ann", to: "bob")
            #expect(try !messagingFiles(in: harness.folder, with: Self.text).isEmpty)

            // Another program reads.
            let (begun, done) = (Latch(), Latch())
            defer { done.open() }
            let other = try await Storage.open(
                MessagingStore.declaration, at: StoragePlace(database: nil, folder: harness.folder), logger: quietLogger)
            let reading = Task {
                try await other.snapshot { transaction in
                    _ = try transaction.page(of: MessagingStore.messages, limit: 10)
                    begun.open()
                    return done.wait(for: .seconds(120))
                }
            }
            try await eventually("the reader reads") { begun.wait(for: .zero) }
            try await harness.read(sent)
            try await harness.removals.messages.look()
            #expect(try await harness.texts().isEmpty)
            try await eventually("the line") { harness.lines.has("traces of removed messages stay") }
            try await eventually("it is overdue") { traces.overdue > .zero }
            #expect(harness.lines.louderThanDebug.count { $0.contains("traces of removed messages stay") } == 1)

            done.open()
            #expect(try await reading.value)
            try await other.close()
            try await eventually("no traces") { try messagingFiles(in: harness.folder, with: Self.text).isEmpty }
            try await eventually("nothing is overdue") { traces.overdue == .zero }
            // The digest stays, and says nothing.
            #expect(try await harness.store.get(sent.id, from: MessagingStore.digests) != nil)
        }
    }

    @Test("A minute after it was read, neither a text nor a picture is in the files of the running service, or in its log")
    func running() async throws {
        try await RunningMessaging.with { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let (folder, traces) = (messaging.folder, TestPicture.traces(ofPalette: Self.palette))
            _ = try await bob.news()
            try await ann.send(Self.text, to: "bob")
            let upload = try await ann.upload([UInt8](TestPicture.png(palette: Self.palette)))
            let pictured = try await ann.request(SendDirectMessage(DirectMessageDraft(to: "bob", picture: upload)))
            // That the search finds them shows that it works.
            #expect(try !messagingFiles(in: folder, with: Self.text).isEmpty)
            #expect(try traces.contains { try !messagingFiles(in: folder, with: $0).isEmpty })
            try await bob.receive()
            try await bob.read(pictured)
            try await eventually("no trace", within: .seconds(60), every: .milliseconds(250)) {
                try (traces + [Self.text]).allSatisfy { try messagingFiles(in: folder, with: $0).isEmpty }
            }
            #expect(try await bob.conversation(with: "ann").messages.isEmpty)
            #expect(!messaging.log.has(Self.text))
        }
    }
}

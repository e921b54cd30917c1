import Base
import Bus
import FoundationEssentials
import Schemas
import Store
import TestSupport

@testable import Messaging

/// The parts that remove messages, without their loops, on a store of the test. The people service is away.
struct RemovalHarness: Sendable {
    let changes: MessagingChanges
    let digests: MessageDigests
    let log: RemovedMessages
    let removals: Removals
    let clock: TestClock
    let lines: RecordedLog
    let folder: String

    var store: Storage { changes.store }

    /// - Parameters:
    ///   - calls: ``MessagingRules/calls``.
    ///   - isAlone: Whether no other machine has the service.
    static func with<Result>(
        _ kind: StoreKind, calls: Int? = nil, isAlone: Bool = true, clock: TestClock = TestClock(),
        isolation: isolated (any Actor)? = #isolation, _ body: (RemovalHarness) async throws -> Result
    ) async throws -> Result {
        let url = try await kind.newDatabaseURL().map { try MongoURL($0) }
        let rules = MessagingRules(
            days: 28, digestDays: 90, reportDays: 30, publishedDays: 365, poll: 30, perMinute: 60, calls: calls,
            pictures: 1 << 30)
        return try await withTemporaryFolder { folder in
            try await withBus { bus in
                let lines = RecordedLog()
                let store = try await Storage.open(
                    MessagingStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger,
                    now: { clock.now })
                let publisher = try EventPublisher(
                    bus: bus, endpoint: "ipc://\(folder)/events.sock", logger: quietLogger)
                let people = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/people.sock"], logger: quietLogger)
                let traces = Traces(of: store, delay: .zero, pause: .milliseconds(100), logger: lines.logger)
                let changes = MessagingChanges(
                    store: store, events: MessagingEvents(publisher: publisher, logger: quietLogger), rules: { rules },
                    now: { clock.now }, committed: { if $0.hasRemoved { traces.removed() } })
                let (digests, log) = (MessageDigests(store: store), RemovedMessages(stateDirectory: folder))
                let removals = Removals(
                    changes: changes, digests: digests, log: log, people: people, traces: traces, isAlone: isAlone,
                    logger: lines.logger)
                let harness = RemovalHarness(
                    changes: changes, digests: digests, log: log, removals: removals, clock: clock, lines: lines,
                    folder: folder)
                return try await perform {
                    try await body(harness)
                } finally: {
                    try await store.close()
                    await log.close()
                }
            }
        }
    }

    /// Sends a message between friends.
    @discardableResult
    func send(_ text: String, from sender: AccountName, to recipient: AccountName) async throws -> DirectMessage {
        let digest = try await digests.digest()
        let command = SendDirectMessage(DirectMessageDraft(to: recipient, text: text))
        let relation = CheckFriends.Relation(account: recipient, state: .friends)
        return try await whenAvailable {
            try await changes.make(by: .program) { change in
                try change.send(command, by: sender, to: relation, digest)
            }
        }
    }

    /// A person has read a message on a device that has everything.
    func read(_ message: DirectMessage) async throws {
        try await whenAvailable {
            try await changes.make(by: .program) { change in
                _ = try change.receive(upTo: .max, on: ObjectID(), by: message.to)
                try change.markRead(upTo: message.id, by: message.to)
            }
        }
    }

    /// The texts of the messages that are stored, by their numbers.
    func texts() async throws -> [String] { try await store.texts() }

    func conversation(_ id: String) async throws -> ConversationDocument? {
        try await store.get(id, from: MessagingStore.conversations)?.document
    }
}

extension Storage {
    /// The texts of the messages that are stored, by their numbers.
    func texts() async throws -> [String] {
        let all = try await page(of: MessagingStore.messages, limit: 1_000).documents.map(\.document)
        return all.sorted { $0.number < $1.number }.map { $0.text ?? "" }
    }
}

/// The names of the files of the service's store that contain a text.
func messagingFiles(in folder: String, with text: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("messaging.sqlite") }.filter { name in
        try Data(contentsOf: URL(filePath: folder + "/" + name)).firstRange(of: Data(text.utf8)) != nil
    }
}

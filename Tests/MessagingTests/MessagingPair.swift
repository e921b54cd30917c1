import Base
import Bus
import Schemas
import Store
import TestSupport

@testable import Messaging

/// The rules of two instances of the messaging service at one database, with the same clock, which stands still.
struct MessagingPair: Sendable {
    let instances: [MessagingChanges]
    let digest: MessageDigest

    static let rules = MessagingRules(
        days: 28, digestDays: 90, reportDays: 90, publishedDays: 365, poll: 30, perMinute: 60, calls: nil, pictures: 1 << 30)

    static func with<Result>(
        _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (MessagingPair) async throws -> Result
    ) async throws -> Result {
        let url = try await kind.newDatabaseURL().map { try MongoURL($0) }
        let clock = TestClock()
        return try await withTemporaryFolder { folder in
            try await withBus { bus in
                var instances: [MessagingChanges] = []
                for number in 0..<2 {
                    let store = try await Storage.open(
                        MessagingStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger,
                        now: { clock.now })
                    let publisher = try EventPublisher(
                        bus: bus, endpoint: "ipc://\(folder)/events-\(number).sock", logger: quietLogger)
                    instances.append(
                        MessagingChanges(
                            store: store, events: MessagingEvents(publisher: publisher, logger: quietLogger),
                            rules: { Self.rules }, now: { clock.now }, committed: { _ in }))
                }
                let stores = instances.map(\.store)
                return try await perform {
                    let digest = try await MessageDigests(store: stores[0]).digest()
                    return try await body(MessagingPair(instances: instances, digest: digest))
                } finally: {
                    for store in stores { try await store.close() }
                }
            }
        }
    }

    /// Sends a message between friends.
    @discardableResult
    func send(
        _ text: String, from sender: AccountName, to recipient: AccountName, on instance: Int
    ) async throws -> DirectMessage {
        let command = SendDirectMessage(DirectMessageDraft(to: recipient, text: text), requestKey: text)
        let relation = CheckFriends.Relation(account: recipient, state: .friends)
        return try await whenAvailable {
            try await instances[instance].make(by: .program) { [digest] change in
                try change.send(command, by: sender, to: relation, digest)
            }
        }
    }
}

/// Something that happens to messages between the persons of a race. They are named by their places.
enum MessagingAct: Sendable {
    case send(Int, to: Int, key: Int)
    case receive(Int, device: Int)
    case read(Int, of: Int)
    case remove(Int, of: Int)

    static func random(among persons: Int, using random: inout SeededGenerator) -> MessagingAct {
        let person = Int.random(in: 0..<persons, using: &random)
        let other = (person + Int.random(in: 1..<persons, using: &random)) % persons
        switch Int.random(in: 0..<100, using: &random) {
        // Some requests are sent twice in the same moment.
        case 0..<50: return .send(person, to: other, key: Int.random(in: 0..<10, using: &random))
        case 50..<70: return .receive(person, device: Int.random(in: 0...1, using: &random))
        case 70..<85: return .read(person, of: other)
        default: return .remove(person, of: other)
        }
    }

    /// Does it.
    ///
    /// - Parameter devices: Two of each person.
    /// - Returns: The message that is accepted, if it is one.
    func perform(
        _ persons: [AccountName], _ devices: [[ObjectID]], on pair: MessagingPair, _ instance: Int
    ) async throws -> ObjectID? {
        switch self {
        case .send(let person, let other, let key):
            let text = "\(person) \(other) \(key)"
            return try await pair.send(text, from: persons[person], to: persons[other], on: instance).id
        case .receive(let person, let device):
            try await pair.change(on: instance) { change in
                _ = try change.receive(upTo: .max, on: devices[person][device], by: persons[person])
            }
        case .read(let person, let other):
            try await pair.change(on: instance) { change in
                let newest = try change.transaction.received(by: persons[person], from: persons[other]).last
                if let newest { try change.markRead(upTo: newest.id, by: persons[person]) }
            }
        case .remove(let person, let other):
            try await pair.change(on: instance) { change in
                let (account, peer) = (persons[person], persons[other])
                let conversation = try change.transaction.conversation(of: account.key, and: peer.key)
                let read = conversation?[account.key].read ?? 0
                let old = try change.transaction.received(by: account, from: peer).filter { $0.number <= read }
                try change.remove(old, because: .read)
            }
        }
        return nil
    }
}

extension MessagingPair {
    fileprivate func change(
        on instance: Int, _ body: @escaping @Sendable (inout MessagingChange) throws -> Void
    ) async throws {
        try await whenAvailable { try await instances[instance].make(by: .program, body) }
    }
}

extension Transaction {
    /// The messages of one person to another one, the oldest first.
    func received(by account: AccountName, from other: AccountName) throws -> [DirectMessageDocument] {
        let query = Query(
            where: MessagingStore.messageConversation == ConversationDocument.id(of: account.key, and: other.key),
            MessagingStore.messageTo == account.key, order: .ascending(MessagingStore.messageNumber))
        return try page(of: MessagingStore.messages, query, limit: 1_000).documents.map(\.document)
    }
}

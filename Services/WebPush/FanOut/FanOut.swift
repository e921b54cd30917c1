import Crypto
import FoundationEssentials
import Bus
import Base
import Logging
import Schemas
import ServiceKit
import Store
import Synchronization
import WebPushStore

/// Answers `message.fanout`: divides the subscriptions of a message's subject into ranges and each range into blocks, one for each
/// push service, and has the message log store a push for each block. From then on the message log's outbox looks after the blocks.
/// A block has one push service only, so that one which hangs keeps back no pushes to others.
///
/// A fan-out that was interrupted, at whatever point, continues with the range that it had planned, under the same idempotency keys.
/// If the subscriptions of a block have changed, the message log answers with `conflict`, which means that it has the block.
final class FanOut: Sendable {
    private let store: Storage
    private let messageLog: CommandClient
    private let outage: OutageLog
    /// When the message log has last taken no block; `nil` once it has taken one.
    private let lastFailure = Mutex<ContinuousClock.Instant?>(nil)
    /// A repeated command waits until the first one has ended.
    private let running = KeyedLock<ObjectID>()

    /// The number of subscriptions of a range, and the most of a block. A kill doubles at most the pushes of the blocks that are being
    /// sent.
    static let rangeSize = 500
    /// The sender of the pushes, for the outbox.
    static let actor = "webpush"
    /// How long a failure is part of the health. A message that waits is tried again within this time. After a longer silence it was
    /// recalled, or has expired, and nothing else would end the outage.
    private static let memory = Duration.seconds(900)

    init(store: Storage, messageLog: CommandClient, logger: Logger) {
        self.store = store
        self.messageLog = messageLog
        outage = OutageLog("the message log takes no blocks", logger: logger)
    }

    /// Whether the message log takes blocks, as a part of the service's health.
    var health: [String: PartHealth] {
        let isFailing = lastFailure.withLock { $0.map { ContinuousClock.now - $0 < Self.memory } ?? false }
        // The failure's own message is not used: it names sockets and folders.
        return [
            "outbox": isFailing
                ? PartHealth(.unavailable, "the message log takes no blocks of pushes; messages wait there") : .ok
        ]
    }

    /// - Throws: ``CommandFailure`` with `unavailable` if the store cannot be read, or if the message log does not take the blocks.
    func fanOut(_ command: FanOutMessage) async throws -> FanOutMessage.Reply {
        try await running.take(command.msiKey) { try await self.run(command) }
    }

    private func run(_ command: FanOutMessage) async throws -> FanOutMessage.Reply {
        var (state, range) = try await begin(command)
        guard state.planned != nil else { return FanOutMessage.Reply(subscriptions: Int(state.count)) }
        let message = command.webPushMessage.json
        while let planned = state.planned {
            let number = state.range
            for (service, block) in range.byService {
                let name = BlockName(service)
                try await log(
                    LogPush(
                        idempotencyKey: "\(command.msiKey)/\(number)/\(name)", transport: .webpush,
                        recipients: block.map { .token($0.subscription.description) },
                        fairnessKey: "webpush/\(name)/\(command.content.topicKey)", message: message,
                        expires: command.lastMoment))
            }
            // Of a range that has grown beyond the limit since it was planned, the rest follows.
            let end = range.count < PushRecipient.maxTokens ? planned : range.last?.subscription ?? planned
            let next = try await subscriptions(of: state, after: end, upTo: state.end, limit: Self.rangeSize)
            state = try await store.update(command.msiKey, in: WebPushStore.fanOuts) { [range] stored in
                stored.noteLogged(number, of: range.count, upTo: end, next: next.last?.subscription)
            }.document
            // Another instance may have come further.
            let isNext = state.range == number + 1 && state.position == end && state.planned == next.last?.subscription
            range = isNext ? next : try await self.planned(by: state)
        }
        return FanOutMessage.Reply(subscriptions: Int(state.count))
    }

    /// Reads how far the fan-out has come, or stores that it begins.
    ///
    /// - Returns: Also the subscriptions of the range that is to be logged next.
    private func begin(_ command: FanOutMessage) async throws -> (FanOutDocument, range: [SubscribedTopic]) {
        if let known = try await store.get(command.msiKey, from: WebPushStore.fanOuts)?.document {
            return (known, try await planned(by: known))
        }
        let last = try await store.page(
            of: WebPushStore.topics,
            Query(
                where: WebPushStore.topic == command.content.topicKey,
                WebPushStore.distribution == command.content.distribution, order: .descending(WebPushStore.subscription)),
            limit: 1)
        var new = FanOutDocument(
            id: command.msiKey, topic: command.content.topicKey, distribution: command.content.distribution,
            end: last.documents.first?.subscription ?? .least, position: .least, planned: nil, range: 0, count: 0,
            expires: command.lastMoment + FanOutDocument.memory)
        let range = try await subscriptions(of: new, after: .least, upTo: new.end, limit: Self.rangeSize)
        new.planned = range.last?.subscription
        // Nothing is to be remembered, for which a full disk would have no room.
        guard !range.isEmpty else { return (new, range) }
        do {
            return (try await store.insert(new, into: WebPushStore.fanOuts).document, range)
        } catch let failure as CommandFailure where failure.status == .conflict {
            // Another instance has begun it.
            throw CommandFailure(.unavailable, "another instance has begun the fan-out")
        }
    }

    /// The subscriptions of the range that is being logged; none if all are.
    private func planned(by fanOut: FanOutDocument) async throws -> [SubscribedTopic] {
        guard let planned = fanOut.planned else { return [] }
        // The range may have more than when it was planned.
        return try await subscriptions(of: fanOut, after: fanOut.position, upTo: planned, limit: PushRecipient.maxTokens)
    }

    private func subscriptions(
        of fanOut: FanOutDocument, after begin: ObjectID, upTo end: ObjectID, limit: Int
    ) async throws -> [SubscribedTopic] {
        try await store.page(
            of: WebPushStore.topics,
            Query(
                where: WebPushStore.topic == fanOut.topic, WebPushStore.distribution == fanOut.distribution,
                WebPushStore.subscription > begin, WebPushStore.subscription <= end,
                order: .ascending(WebPushStore.subscription)),
            limit: limit
        ).documents.map(\.document)
    }

    private func log(_ block: LogPush) async throws(CommandFailure) {
        do throws(CommandFailure) {
            _ = try await messageLog.request(block, context: CallerContext(actor: Self.actor))
            worked()
        } catch {
            switch error.status {
            // It has the block, whose subscriptions have changed since.
            case .conflict: worked()
            case .invalid where !error.isUnknownCommand: throw error
            default:
                outage.failed(error)
                lastFailure.withLock { $0 = .now }
                throw CommandFailure(
                    .unavailable, "the message log does not take the blocks of pushes: \(error.message)",
                    retryAfter: error.retryAfter)
            }
        }
    }

    /// The message log has a block.
    private func worked() {
        outage.worked()
        lastFailure.withLock { $0 = nil }
    }
}

extension [SubscribedTopic] {
    /// A block for each push service, always in the same order.
    fileprivate var byService: [(service: String, block: [SubscribedTopic])] {
        Dictionary(grouping: self, by: \.service).sorted { $0.key < $1.key }.map { (service: $0.key, block: $0.value) }
    }
}

/// A push service's name in the keys of its blocks. The end of a long name is replaced by a hash, because keys have a maximum length.
private struct BlockName: CustomStringConvertible {
    let description: String

    private static let maxLength = 100
    private static let keptLength = 60

    init(_ service: String) {
        guard service.utf8.count > Self.maxLength else {
            description = service
            return
        }
        let digest = SHA256.hash(data: Data(service.utf8)).prefix(12)
        description = "\(service.prefix(Self.keptLength))-\(ObjectID(bytes: Array(digest)) ?? .least)"
    }
}

extension FanOutMessage {
    /// When its pushes expire: the same each time that the command is repeated.
    fileprivate var lastMoment: UnixMilliseconds { expires ?? timestamp + Milliseconds(maxTimeToLive) }
}

import Bus
import DequeModule
import Base
import Logging
import Schemas
import ServiceLifecycle
import Synchronization

/// The latest changes of messages, for the gateway's live events.
///
/// A change takes only an entry of a ring buffer in memory: nothing is written or encoded before a reader asks for it. The
/// event ``MessageChanged`` says that there is something to read.
final class MessageChanges: Service {
    private struct State {
        var ring: ChangeRing
        /// Whether ``run()`` was told of changes, and has not announced them yet.
        var isSignalled = false
    }

    /// The number of changes that are kept.
    static let capacity = 8_192
    /// The time between two events.
    private static let period = Duration.milliseconds(50)

    private let publish: @Sendable (MessageChanged) -> Void
    private let state: Mutex<State>
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// - Parameter publish: Publishes the event.
    init(capacity: Int = MessageChanges.capacity, publish: @escaping @Sendable (MessageChanged) -> Void) {
        self.publish = publish
        state = Mutex(State(ring: ChangeRing(epoch: ObjectID(), capacity: capacity)))
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    convenience init(publisher: EventPublisher, logger: Logger) {
        self.init { event in
            do {
                publisher.publish(MessageChanged.name, try JSONCoder.encode(event))
            } catch {
                logger.error("an event could not be written", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Adds a message that was logged or edited, or has another state.
    ///
    /// - Parameter changed: When it got its state. Of two tasks, the one with the later change may be the first one here.
    func add(_ message: Message, at changed: UnixMilliseconds) {
        let change = MessageChange(message, at: changed)
        let isFirst = state.withLock { state in
            state.ring.append(change)
            defer { state.isSignalled = true }
            return !state.isSignalled
        }
        if isFirst { signal.yield() }
    }

    /// The changes after a position.
    func read(_ command: ReadMessageChanges) -> ReadMessageChanges.Reply {
        // Not from a copy of the ring: the next change would then copy all of it.
        state.withLock { $0.ring.changes(after: command.after, limit: Int(command.limit)) }
    }

    /// Announces changes. Several in a short time are one event.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in self.signals {
                let position = self.state.withLock { state in
                    state.isSignalled = false
                    return ChangePosition(epoch: state.ring.epoch, number: state.ring.latest)
                }
                self.publish(MessageChanged(position: position))
                try? await Task.sleep(for: Self.period)
            }
        }
    }
}

/// The latest changes of messages, numbered from 1. When it is full, the oldest is dropped. Pure.
struct ChangeRing: Sendable {
    let epoch: ObjectID
    private let capacity: Int
    private var changes: Deque<MessageChange> = []
    /// The number of the latest change.
    private(set) var latest: Int64 = 0

    init(epoch: ObjectID, capacity: Int) {
        self.epoch = epoch
        self.capacity = max(1, capacity)
    }

    mutating func append(_ change: MessageChange) {
        if changes.count == capacity { changes.removeFirst() }
        changes.append(change)
        latest += 1
    }

    /// The reply to a reader that has everything up to a position.
    func changes(after position: ChangePosition?, limit: Int) -> ReadMessageChanges.Reply {
        let oldest = latest - Int64(changes.count) + 1
        // A reader of another process, or one that is too far behind, begins with the oldest change.
        let known = position.flatMap { $0.epoch == epoch && (oldest - 1...latest).contains($0.number) ? $0.number : nil }
        let first = known.map { $0 + 1 } ?? oldest
        let page = changes.dropFirst(Int(first - oldest)).prefix(limit)
        return ReadMessageChanges.Reply(epoch: epoch, first: first, changes: Array(page), latest: latest)
    }
}

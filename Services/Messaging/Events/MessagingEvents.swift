import Base
import Bus
import Logging
import Schemas
import Synchronization

/// That something is new for a person: a message, or how far one is.
struct MessagingNews: Hashable, Sendable {
    let account: AccountName
    /// The message. The app names it when it fetches, so that the fetch is no poll.
    let message: ObjectID
}

/// Publishes `person.changed` of the kind `messages`, with this process's own numbers.
///
/// The events are hints: what they are about is in the store, and a subscriber that misses one tells its readers to fetch
/// everything again.
final class MessagingEvents: Sendable {
    private static let kind = "messages"

    private let epoch = ObjectID()
    private let number = Mutex<Int64>(0)
    private let publisher: EventPublisher
    private let logger: Logger

    /// - Parameter publisher: Of the service's events socket.
    init(publisher: EventPublisher, logger: Logger) {
        self.publisher = publisher
        self.logger = logger
    }

    /// Announces changes that are committed. Returns at once.
    func announce(_ news: [MessagingNews]) {
        for item in news {
            do {
                try announce(item)
            } catch {
                logger.error("an event could not be written", metadata: ["error": "\(error)"])
            }
        }
    }

    private func announce(_ item: MessagingNews) throws {
        // Inside of the lock, so that the events are sent in the order of their numbers.
        try number.withLock { number in
            let changed = PersonChanged(
                epoch: epoch, number: number + 1, account: item.account, kind: Self.kind, id: "\(item.message)")
            publisher.publish(PersonChanged.name, try JSONCoder.encode(changed))
            number += 1
        }
    }
}

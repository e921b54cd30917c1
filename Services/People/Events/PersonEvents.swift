import Base
import Bus
import Logging
import Schemas
import Synchronization

/// Something that happened to a person, which an open app shows.
struct PersonEvent: Hashable, Sendable {
    /// What the app fetches again.
    enum Kind: String, Sendable {
        /// The account: the professor's mark, and the ways to sign in.
        case account
        case devices, profile
        /// The friends, and those who are blocked.
        case friends
        case requests, preferences
    }

    let account: AccountName
    let kind: Kind
    /// What has changed, such as a friend's account; `nil` for anything of the kind.
    let id: String?
}

/// Publishes `person.changed` with this process's own numbers.
///
/// The events are hints: what they are about is in the store, and a subscriber that misses one tells its readers to fetch everything again.
final class PersonEvents: Sendable {
    private let epoch = ObjectID()
    private let count = Mutex<Int64>(0)
    private let publisher: EventPublisher
    private let logger: Logger

    /// - Parameter publisher: Of the service's events socket.
    init(publisher: EventPublisher, logger: Logger) {
        self.publisher = publisher
        self.logger = logger
    }

    /// Announces a change that is committed. Returns at once.
    func announce(_ account: AccountName, _ kind: PersonEvent.Kind, _ id: String? = nil) {
        do {
            // Inside of the lock, so that the events are sent in the order of their numbers.
            try count.withLock { count in
                let event = PersonChanged(epoch: epoch, number: count + 1, account: account, kind: kind.rawValue, id: id)
                publisher.publish(PersonChanged.name, try JSONCoder.encode(event))
                count += 1
            }
        } catch {
            logger.error("an event could not be written", metadata: ["event": "\(PersonChanged.name)", "error": "\(error)"])
        }
    }

    func announce(_ events: [PersonEvent]) {
        for event in events { announce(event.account, event.kind, event.id) }
    }
}

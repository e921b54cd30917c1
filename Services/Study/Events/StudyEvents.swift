import Base
import Bus
import Logging
import Schemas
import Synchronization

/// Something that open apps show.
enum StudyEvent: Hashable, Sendable {
    /// What has changed for one person, whatever their app shows.
    enum PersonKind: String, Sendable {
        /// The classes, and the person's roles in them.
        case classes
        /// The session in which the person is or was, and those that the person hosts.
        case session
        case invites
    }

    /// `id` is the class or the session; `nil` for anything of the kind.
    case person(AccountName, PersonKind, id: ObjectID?)
    case inClass(ObjectID, ClassChanged.Kind, session: ObjectID)
}

/// Publishes `person.changed` and `class.changed`, each with this process's own numbers.
///
/// The events are hints: what they are about is in the store, and a subscriber that misses one tells its readers to fetch
/// everything again.
final class StudyEvents: Sendable {
    private struct Numbers {
        var persons: Int64 = 0
        var classes: Int64 = 0
    }

    private let epoch = ObjectID()
    private let numbers = Mutex(Numbers())
    private let publisher: EventPublisher
    private let logger: Logger

    /// - Parameter publisher: Of the service's events socket.
    init(publisher: EventPublisher, logger: Logger) {
        self.publisher = publisher
        self.logger = logger
    }

    /// Announces changes that are committed. Returns at once.
    func announce(_ events: [StudyEvent]) {
        for event in events {
            do {
                try announce(event)
            } catch {
                logger.error("an event could not be written", metadata: ["error": "\(error)"])
            }
        }
    }

    private func announce(_ event: StudyEvent) throws {
        // Inside of the lock, so that the events are sent in the order of their numbers.
        try numbers.withLock { numbers in
            switch event {
            case .person(let account, let kind, let id):
                let changed = PersonChanged(
                    epoch: epoch, number: numbers.persons + 1, account: account, kind: kind.rawValue,
                    id: id.map { "\($0)" })
                publisher.publish(PersonChanged.name, try JSONCoder.encode(changed))
                numbers.persons += 1
            case .inClass(let id, let kind, let session):
                let changed = ClassChanged(
                    epoch: epoch, number: numbers.classes + 1, classID: id, kind: kind, session: session)
                publisher.publish(ClassChanged.name, try JSONCoder.encode(changed))
                numbers.classes += 1
            }
        }
    }
}

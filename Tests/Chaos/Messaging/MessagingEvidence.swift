import Base
import Schemas
import Synchronization

/// A message between two people of a run.
struct Letter: Hashable, Sendable {
    let id: ObjectID
    let from: String
    let to: String
    /// Its place in the conversation.
    let number: Int64
    /// Each is sent once.
    let text: String

    init(id: ObjectID, from: String, to: String, number: Int64, text: String) {
        self.id = id
        self.from = from
        self.to = to
        self.number = number
        self.text = text
    }

    /// - Parameter text: In the place of that of a message that was removed before it was answered.
    init(_ message: DirectMessage, text: String? = nil) {
        self.init(
            id: message.id, from: message.from.description, to: message.to.description, number: message.number,
            text: text ?? message.text ?? "")
    }

    /// The other one of the two persons.
    func other(of account: String) -> String { account == from ? to : from }
}

/// What people have written to each other, and what their devices and the hub have of it at the end of a run.
struct MessagingEvidence: Sendable {
    /// What a device has got, in its order.
    struct Device: Hashable, Sendable {
        let account: String
        /// Up to which position of its person it has everything.
        var after: Int64 = 0
        var received: [Letter] = []
    }

    /// A conversation as one of its two persons sees it.
    struct Side: Hashable, Sendable {
        let account: String
        let other: String
        let conversation: Conversation
        /// The messages that the hub still has.
        let left: Int
    }

    /// What was answered with 201. Those of a person to another one are in the order in which they were sent.
    var sent: [Letter] = []
    var devices: [ObjectID: Device] = [:]
    /// When each device has everything, and each person has read it.
    var sides: [Side] = []
    /// The accounts by the registration tokens of their phones.
    var phones: [String: String] = [:]
    var pushes: [PersonalPush] = []
    var arrivals: [PersonalPush.Arrival] = []
    /// FCM's names of all sends that it has accepted.
    var names: Set<String> = []
    var problems: [String] = []

    /// Takes the pushes of the messaging service.
    mutating func read(_ found: PersonalPushes) {
        (pushes, arrivals, names) = (found.pushes, found.arrivals, found.names)
        problems += found.problems.filter { !problems.contains($0) }
    }
}

/// The records of a run, which all of its people write.
final class MessagingLedger: Sendable {
    private let state = Mutex(MessagingEvidence())

    var evidence: MessagingEvidence { state.withLock(\.self) }

    func note(_ change: (inout MessagingEvidence) -> Void) { state.withLock { change(&$0) } }

    func add(_ device: ObjectID, of account: String) {
        note { $0.devices[device] = MessagingEvidence.Device(account: account) }
    }

    /// Up to which position a device has everything.
    func position(of device: ObjectID) -> Int64 { state.withLock { $0.devices[device]?.after ?? 0 } }

    /// A device has got a page.
    func got(_ news: MessageNews, on device: ObjectID) {
        note { evidence in
            evidence.devices[device]?.received += news.messages.map { Letter($0) }
            evidence.devices[device]?.after = news.after
        }
    }

    /// The last message that a device has from somebody.
    func last(from account: String, on device: ObjectID) -> Letter? {
        state.withLock { $0.devices[device]?.received.last { $0.from == account } }
    }
}

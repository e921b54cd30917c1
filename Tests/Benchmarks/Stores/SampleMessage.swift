import Schemas
import Base

/// A typical message. The peers write the same one.
enum SampleMessage {
    static let topics = unused(20)
    /// Topics without messages.
    static let unusedTopics = unused(980)

    private static func unused(_ count: Int) -> [TopicKey] {
        (0..<count).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
    }

    /// - Parameter state: `nil` for a message that is being relayed for the first time.
    static func make(_ number: Int, timestamp: UnixMilliseconds, state: RelayState? = nil) -> Message {
        var relay = RelayRecord(
            logged: .alert, due: timestamp,
            lease: Lease(owner: "host ipc:///run/msi/message-log.sock", until: timestamp + 30_000))
        if let state {
            relay.state = state
            relay.nextAttempt = nil
            relay.lease = nil
        }
        return Message(
            msiKey: ObjectID(),
            content: MessageContent(
                title: "Campus closed", desc: "Please stay at home",
                message: "All lectures of today are cancelled because of the storm. "
                    + "The library and the canteen stay closed until tomorrow at noon.",
                topicKey: topics[number % topics.count], distribution: .alert),
            sender: "Communicator", timestamp: timestamp,
            names: CubeNames(channel: "Campus", area: "Weather", subject: "Storms"), expires: timestamp + 2_419_200_000,
            relay: relay)
    }

    static var channel: ObjectID { topics[0].channel }
}

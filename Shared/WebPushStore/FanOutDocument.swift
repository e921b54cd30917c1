package import Base
package import Schemas
import Store

/// How far the fan-out of a message has come. It goes through the subscriptions of the message's subject in the order of their ids, in
/// ranges. A range is stored before its blocks, one for each push service, are logged, so a fan-out that is resumed makes the same
/// blocks.
package struct FanOutDocument: StoredDocument, Hashable {
    /// The message's `msi_key`.
    package let id: ObjectID
    package let topic: TopicKey
    package let distribution: Distribution
    /// The last subscription when it began. Later ones get the message from the hub when their app is opened.
    package let end: ObjectID
    /// The last subscription of the ranges that are logged.
    package var position: ObjectID
    /// The last subscription of the range that is being logged; absent when all are.
    package var planned: ObjectID?
    /// The number of that range, from 0.
    package var range: Int64
    /// The number of subscriptions in the ranges that are logged.
    package var count: Int64
    /// When it is removed. The message has expired by then.
    package let expires: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case topic, distribution, end, position, planned, range, count, expires
    }

    package init(
        id: ObjectID, topic: TopicKey, distribution: Distribution, end: ObjectID, position: ObjectID, planned: ObjectID?,
        range: Int64, count: Int64, expires: UnixMilliseconds
    ) {
        self.id = id
        self.topic = topic
        self.distribution = distribution
        self.end = end
        self.position = position
        self.planned = planned
        self.range = range
        self.count = count
        self.expires = expires
    }

    /// How long it is kept after its message has expired.
    package static let memory = Milliseconds.seconds(86_400)

    /// Notes that a range is logged, and plans the next one. A range that another process has noted already changes nothing.
    ///
    /// - Parameters:
    ///   - end: The last subscription that is logged, or the planned end of the range.
    ///   - next: The last subscription of the next range; `nil` if there is none.
    package mutating func noteLogged(_ number: Int64, of count: Int, upTo end: ObjectID, next: ObjectID?) {
        guard range == number, planned != nil else { return }
        position = end
        planned = next
        self.count += Int64(count)
        range += 1
    }
}

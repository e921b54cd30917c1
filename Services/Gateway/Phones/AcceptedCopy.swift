import DequeModule
import FoundationEssentials
import HeapModule
import JSON
import NIOCore
import Schemas
import Time

/// The gateway's copy of the messages that FCM has accepted, in the order of acceptance, and of the Alerts beside them. Pure.
///
/// It answers what the message log would answer to ``ReadAccepted``, from memory.
struct AcceptedCopy: Sendable {
    private struct Entry: Sendable {
        let place: PageCursor
        /// The message for phones, encoded once.
        let json: Data
    }

    /// The messages of each topic.
    private var topics: [TopicKey: Deque<Entry>] = [:]
    /// The places of all messages, with their topics.
    private var order: Deque<(place: PageCursor, topic: TopicKey)> = []
    /// The size of all messages. A campus that sends ten thousand messages a day needs about 40 MB for the eight days.
    private(set) var bytes = 0
    private let maxBytes: Int
    /// The Alerts that FCM has not accepted yet, and the same encoded once, in the same order.
    private var waiting: [PhoneMessage] = []
    private var waitingJSON: [Data] = []
    private var recalled: [RecalledAlert] = []
    /// When the request began that has brought them.
    private var alertsAsked: ContinuousClock.Instant?

    /// No message after this place is missing, other than those after ``next``.
    private(set) var begin: PageCursor
    /// Where a phone goes on that has read everything: every message that is not in the copy yet has a later place. `nil` while the
    /// copy is being filled.
    private(set) var next: PageCursor?

    /// How long before the last known message it is looked for newer ones. Messages are stored almost in their order.
    private static let overlap: Milliseconds = 2_000

    /// - Parameters:
    ///   - begin: Before the first message that is to be added.
    ///   - maxBytes: The oldest messages make room for newer ones.
    init(from begin: PageCursor, maxBytes: Int = 64 << 20) {
        self.begin = begin
        self.maxBytes = maxBytes
    }

    var count: Int { order.count }

    /// Where to look for new messages.
    var tail: PageCursor {
        let last = order.last.map { PageCursor(before: $0.place.timestamp - Self.overlap) } ?? begin
        return max(last, next ?? begin)
    }

    // MARK: Filling

    /// - Throws: The error of the encoding.
    mutating func add(_ messages: [AcceptedMessage]) throws {
        for message in messages where message.place > begin {
            let place = message.place
            guard let position = Self.position(of: place, in: order, \.place) else { continue }
            let entry = Entry(place: place, json: try JSONCoder.encode(message.message))
            let topic = message.message.topicKey
            order.insert((place, topic), at: position)
            if let position = Self.position(of: place, in: topics[topic] ?? [], \.place) {
                topics[topic, default: []].insert(entry, at: position)
            }
            bytes += entry.json.count
        }
        while bytes > maxBytes { dropFirst() }
    }

    /// Replaces the Alerts of all topics that phones fetch beside the last page (``ReadAccepted/Reply``), unless those of a later request
    /// are there.
    ///
    /// - Parameter asked: When the request for them began.
    /// - Throws: The error of the encoding.
    mutating func replaceAlerts(
        waiting: [PhoneMessage], recalled: [RecalledAlert], asked: ContinuousClock.Instant
    ) throws {
        if let alertsAsked, asked < alertsAsked { return }
        alertsAsked = asked
        self.recalled = recalled
        // They are usually the same as a moment ago.
        guard waiting != self.waiting else { return }
        waitingJSON = try waiting.map { try JSONCoder.encode($0) }
        self.waiting = waiting
    }

    /// All messages after the former ``next`` that were stored before a moment were added.
    ///
    /// - Parameters:
    ///   - horizon: Every message that was stored after that moment has a later place.
    ///   - now: Messages that phones cannot fetch any more are forgotten.
    mutating func complete(to horizon: PageCursor, now: UnixMilliseconds) {
        // One message log may know less than another one, but what any of them said stays true.
        next = max(next ?? horizon, horizon)
        let earliest = PageCursor(before: now - ReadAccepted.reach)
        while let first = order.first, first.place < earliest { dropFirst() }
    }

    private mutating func dropFirst() {
        guard let (place, topic) = order.popFirst() else { return }
        begin = place
        if let entry = topics[topic]?.popFirst() { bytes -= entry.json.count }
        if topics[topic]?.isEmpty == true { topics[topic] = nil }
    }

    /// - Returns: Where to insert a place; `nil` if it is there. New messages are usually the last ones.
    private static func position<Element>(
        of place: PageCursor, in sorted: Deque<Element>, _ placeOf: (Element) -> PageCursor
    ) -> Int? {
        let position = firstIndex(after: place, in: sorted, placeOf)
        return position > 0 && placeOf(sorted[position - 1]) == place ? nil : position
    }

    private static func firstIndex<Element>(
        after place: PageCursor, in sorted: Deque<Element>, _ placeOf: (Element) -> PageCursor
    ) -> Int {
        var (low, high) = (0, sorted.count)
        if let last = sorted.last, placeOf(last) <= place { low = high }
        while low < high {
            let middle = (low + high) / 2
            if placeOf(sorted[middle]) <= place { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Answers

    /// A page of the messages of topics.
    struct Page: Sendable {
        fileprivate let messages: [Data]
        fileprivate let next: PageCursor
        fileprivate var waiting: [Data] = []
        fileprivate var recalled: [ObjectID] = []

        /// The document of ``ReadAccepted/Reply``.
        var json: ByteBuffer {
            var json = ByteBuffer()
            let size = messages.reduce(200 + 30 * recalled.count) { $0 + $1.count + 1 }
            json.reserveCapacity(waiting.reduce(size) { $0 + $1.count + 1 })
            json.writeStaticString("{\"messages\":")
            json.write(array: messages)
            json.writeString(",\"next\":\"\(next)\"")
            if !waiting.isEmpty {
                json.writeStaticString(",\"waiting\":")
                json.write(array: waiting)
            }
            if !recalled.isEmpty {
                json.writeString(",\"recalled\":[\(recalled.map { "\"\($0)\"" }.joined(separator: ","))]")
            }
            json.writeStaticString("}")
            return json
        }
    }

    /// The first message of a topic that is not on the page yet.
    private struct Head: Comparable {
        let entries: Deque<Entry>
        var index: Int

        var place: PageCursor { entries[index].place }

        static func < (one: Head, other: Head) -> Bool { one.place < other.place }
        static func == (one: Head, other: Head) -> Bool { one.place == other.place }
    }

    /// - Returns: `nil` if the copy does not reach back far enough, or is being filled.
    func page(_ command: ReadAccepted, now: UnixMilliseconds) -> Page? {
        let earliest = PageCursor(before: now - ReadAccepted.reach)
        let after = max(command.after ?? earliest, earliest)
        guard let next, after >= begin else { return nil }
        var heads = Heap<Head>()
        let wanted = Set(command.topics)
        for topic in wanted {
            guard let entries = topics[topic] else { continue }
            let index = Self.firstIndex(after: after, in: entries, \.place)
            if index < entries.count { heads.insert(Head(entries: entries, index: index)) }
        }
        var messages: [Data] = []
        var last = after
        while messages.count < ReadAccepted.maxPerPage, var head = heads.popMin() {
            messages.append(head.entries[head.index].json)
            last = head.place
            head.index += 1
            if head.index < head.entries.count { heads.insert(head) }
        }
        guard messages.count < ReadAccepted.maxPerPage else { return Page(messages: messages, next: last) }
        var page = Page(messages: messages, next: next)
        for (alert, json) in zip(waiting, waitingJSON) where wanted.contains(alert.topicKey) { page.waiting.append(json) }
        for alert in recalled where wanted.contains(alert.topicKey) { page.recalled.append(alert.msiKey) }
        return page
    }
}

extension ByteBuffer {
    /// Writes an array of encoded elements.
    fileprivate mutating func write(array elements: [Data]) {
        writeStaticString("[")
        for (number, element) in elements.enumerated() {
            if number > 0 { writeInteger(UInt8(ascii: ",")) }
            writeBytes(element)
        }
        writeStaticString("]")
    }
}

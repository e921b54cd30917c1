import DequeModule
import FoundationEssentials
import HeapModule
import Base
import NIOCore
import Schemas

/// The gateway's copy of the messages that FCM has accepted, in acceptance order, and of the Alerts beside them. Pure.
///
/// It answers what the message log would answer to ``ReadAccepted``, from memory.
struct AcceptedCopy: Sendable {
    private struct Entry: Sendable {
        let cursor: PageCursor
        /// The message for phones, encoded once.
        let json: Data
    }

    /// The messages of each topic.
    private var topics: [TopicKey: Deque<Entry>] = [:]
    /// The cursors of all messages, with their topics.
    private var order: Deque<(cursor: PageCursor, topic: TopicKey)> = []
    /// The size of all messages. A campus that sends ten thousand messages a day needs about 40 MB for the eight days.
    private(set) var bytes = 0
    private let maxBytes: Int
    /// The Alerts that FCM has not accepted yet, and the same encoded once, in the same order.
    private var waiting: [PhoneMessage] = []
    private var waitingJSON: [Data] = []
    private var recalled: [RecalledAlert] = []
    /// When the request that brought them began.
    private var alertsAsked: ContinuousClock.Instant?

    /// No message after this cursor is missing, other than those after ``next``.
    private(set) var begin: PageCursor
    /// The cursor of a phone that has read everything: every message that is not in the copy yet comes after it. `nil` while the copy is
    /// being filled.
    private(set) var next: PageCursor?

    /// A search for newer messages begins this long before the last known one. Messages are stored almost in their order.
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
        let last = order.last.map { PageCursor(before: $0.cursor.timestamp - Self.overlap) } ?? begin
        return max(last, next ?? begin)
    }

    // MARK: Filling

    /// - Throws: The error of the encoding.
    mutating func add(_ messages: [AcceptedMessage]) throws {
        for message in messages where message.cursor > begin {
            let cursor = message.cursor
            guard let position = Self.position(of: cursor, in: order, \.cursor) else { continue }
            let entry = Entry(cursor: cursor, json: try JSONCoder.encode(message.message))
            let topic = message.message.topicKey
            order.insert((cursor, topic), at: position)
            if let position = Self.position(of: cursor, in: topics[topic] ?? [], \.cursor) {
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

    /// Ends an update: all messages after the previous ``next`` that were stored before a moment are in the copy.
    ///
    /// - Parameters:
    ///   - watermark: Every message that was stored after that moment comes after it.
    ///   - now: Messages that phones cannot fetch any more are forgotten.
    mutating func complete(to watermark: PageCursor, now: UnixMilliseconds) {
        // One message log may know less than another one, but what any of them said stays true.
        next = max(next ?? watermark, watermark)
        let earliest = PageCursor(before: now - ReadAccepted.reach)
        while let first = order.first, first.cursor < earliest { dropFirst() }
    }

    private mutating func dropFirst() {
        guard let (cursor, topic) = order.popFirst() else { return }
        begin = cursor
        if let entry = topics[topic]?.popFirst() { bytes -= entry.json.count }
        if topics[topic]?.isEmpty == true { topics[topic] = nil }
    }

    /// - Returns: Where to insert a cursor; `nil` if it is there. New messages are usually the last ones.
    private static func position<Element>(
        of cursor: PageCursor, in sorted: Deque<Element>, _ cursorOf: (Element) -> PageCursor
    ) -> Int? {
        let position = firstIndex(after: cursor, in: sorted, cursorOf)
        return position > 0 && cursorOf(sorted[position - 1]) == cursor ? nil : position
    }

    private static func firstIndex<Element>(
        after cursor: PageCursor, in sorted: Deque<Element>, _ cursorOf: (Element) -> PageCursor
    ) -> Int {
        var (low, high) = (0, sorted.count)
        if let last = sorted.last, cursorOf(last) <= cursor { low = high }
        while low < high {
            let middle = (low + high) / 2
            if cursorOf(sorted[middle]) <= cursor { low = middle + 1 } else { high = middle }
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

        var cursor: PageCursor { entries[index].cursor }

        static func < (one: Head, other: Head) -> Bool { one.cursor < other.cursor }
        static func == (one: Head, other: Head) -> Bool { one.cursor == other.cursor }
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
            let index = Self.firstIndex(after: after, in: entries, \.cursor)
            if index < entries.count { heads.insert(Head(entries: entries, index: index)) }
        }
        var messages: [Data] = []
        var last = after
        while messages.count < ReadAccepted.maxPerPage, var head = heads.popMin() {
            messages.append(head.entries[head.index].json)
            last = head.cursor
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

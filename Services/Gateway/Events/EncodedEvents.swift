import HTTPRouting
import NIOCore
import Schemas

/// What the open streams are sent at one moment. Streams that carry the same share one encoded copy. Pure.
struct EncodedEvents {
    enum Content {
        /// The same bytes for each stream.
        case bytes(ByteBuffer)
        /// Of these messages, those that the stream carries.
        case messages([MessageFeed.Entry])
    }

    /// What makes the bytes for two streams equal.
    private struct Variant: Hashable {
        /// The places of the messages.
        let messages: [Int]
        let seesAll: Bool
        let cube: CubeVersion
    }

    private let content: Content
    private let positions: [ChangePosition]
    private var visible: [EventView: [Int]] = [:]
    private var encoded: [Variant: ByteBuffer] = [:]

    /// - Parameter positions: The position behind the content, which follows it as the events' id.
    init(_ content: Content, positions: [ChangePosition]) {
        self.content = content
        self.positions = positions
    }

    /// The number of different contents until now.
    var variants: Int { encoded.count }

    /// The bytes for streams with some rights; `nil` if there is nothing for them.
    mutating func bytes(for rights: StreamRights) -> ByteBuffer? {
        let messages = visibleMessages(in: rights.view)
        if case .messages = content, messages.isEmpty { return nil }
        let variant = Variant(messages: messages, seesAll: rights.view == .all, cube: rights.cube)
        if let known = encoded[variant] { return known }
        let bytes = encode(messages, for: rights)
        encoded[variant] = bytes
        return bytes
    }

    private mutating func visibleMessages(in view: EventView) -> [Int] {
        guard case .messages(let entries) = content else { return [] }
        if let known = visible[view] { return known }
        let found = entries.indices.filter { view.contains(entries[$0].topicKey) }
        visible[view] = found
        return found
    }

    private func encode(_ messages: [Int], for rights: StreamRights) -> ByteBuffer {
        var bytes = ByteBuffer()
        switch content {
        case .bytes(let same): bytes.writeImmutableBuffer(same)
        case .messages(let entries): for index in messages { bytes.write(entries[index]) }
        }
        bytes.write(eventID: EventPosition(of: rights, changes: positions).description)
        return bytes
    }
}

extension EventPosition {
    /// The position of a stream with some rights.
    init(of rights: StreamRights, changes: [ChangePosition]) {
        self.init(seesAll: rights.view == .all, cube: rights.cube, changes: changes)
    }
}

extension ByteBuffer {
    /// Writes the event of a message's change.
    mutating func write(_ entry: MessageFeed.Entry) {
        write(event: "message", data: entry.json)
    }
}

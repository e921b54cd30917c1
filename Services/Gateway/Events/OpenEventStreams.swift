import FoundationEssentials
import HTTPRouting
import Base
import NIOCore
import Schemas

/// The open streams of events, and what they have been told. Each event is encoded once for all streams that carry it.
struct OpenEventStreams: Sendable {
    /// The streams of one credential; they all carry the same.
    private struct Audience: Sendable {
        var rights: StreamRights
        var queues: [Int: EventStreamQueue] = [:]
    }

    /// A stream's credential, and its number.
    struct StreamID: Sendable {
        fileprivate let credential: CredentialHash?
        fileprivate let number: Int
    }

    private(set) var feed = MessageFeed()
    private(set) var cube: CubeVersion?
    private(set) var health: Health?
    private var audiences: [CredentialHash?: Audience] = [:]
    private var lastNumber = 0

    /// The maximum size of the missed events of a client that resumes. With more it reads the lists again instead.
    private static let maxMissedBytes = 128 * 1_024
    /// The range of the time after which a client reconnects, in milliseconds. It differs, so that not all come at once.
    private static let reconnectTimes = 1_000...3_000

    var isEmpty: Bool { audiences.isEmpty }

    /// The rights of those who have open streams.
    var rights: [StreamRights] { audiences.values.map(\.rights) }

    // MARK: Streams

    /// Opens a stream: what the client has missed, or `reset`; then the state of the cube and of the services.
    ///
    /// - Parameter lastEventID: The client's `Last-Event-ID`; `nil` for a new client.
    mutating func open(_ queue: EventStreamQueue, with rights: StreamRights, lastEventID: String?) -> StreamID {
        let id = StreamID(credential: rights.principal?.hash, number: lastNumber + 1)
        lastNumber += 1
        var audience = audiences[id.credential] ?? Audience(rights: rights)
        audience.queues[id.number] = queue
        audiences[id.credential] = audience

        var start = ByteBuffer(string: "retry: \(Int.random(in: Self.reconnectTimes))\n\n")
        if let lastEventID {
            if let missed = missed(since: lastEventID, with: audience.rights) {
                start.writeImmutableBuffer(missed)
            } else {
                start.writeImmutableBuffer(Self.reset)
            }
        }
        if let cube { start.write(event: "cube", data: Self.json(of: cube)) }
        if let health, let json = try? JSONCoder.encode(health) { start.write(event: "health", data: json) }
        start.write(eventID: EventPosition(of: audience.rights, changes: feed.positions).description)
        queue.put(start)
        return id
    }

    mutating func close(_ id: StreamID) {
        audiences[id.credential]?.queues[id.number] = nil
        if audiences[id.credential]?.queues.isEmpty == true { audiences[id.credential] = nil }
    }

    /// Changes what the streams of a caller carry; `nil` ends them.
    mutating func setRights(_ rights: StreamRights?, of principal: Principal?) {
        let credential = principal?.hash
        guard let audience = audiences[credential], audience.rights != rights else { return }
        audiences[credential]?.rights = rights ?? audience.rights
        if rights == nil {
            audiences[credential] = nil
            for queue in audience.queues.values { queue.finish() }
        } else if let rights, !rights.view.hasSameTopics(as: audience.rights.view) {
            var reset = EncodedEvents(.bytes(Self.reset), positions: feed.positions)
            if let bytes = reset.bytes(for: rights) { send(bytes, to: audience) }
        }
    }

    // MARK: Events

    /// Adds what a message log has told.
    mutating func add(_ page: MessageFeed.Page, from log: Int) {
        switch feed.add(page, from: log) {
        case .nothing: break
        case .changes(let entries): send(.messages(entries))
        case .gap: send(.bytes(Self.reset))
        }
    }

    /// A message log has gone away, or has made its last changes after that.
    mutating func remove(log: Int) {
        feed.remove(log)
        send(.bytes(Self.reset))
    }

    mutating func cubeHasVersion(_ version: CubeVersion) {
        guard version != cube else { return }
        cube = version
        send(event: "cube", data: Self.json(of: version))
    }

    mutating func healthIs(_ health: Health) {
        if let known = self.health, known.hasSameStates(as: health) { return }
        guard let json = try? JSONCoder.encode(health) else { return }
        self.health = health
        send(event: "health", data: json)
    }

    /// Forgets the state of the services, which no stream has followed for a while.
    mutating func forgetHealth() {
        health = nil
    }

    /// Sends a sign of life and the current position. Proxies keep the connections, and pages notice a gateway that is silent.
    func keepAlive() {
        var bytes = ByteBuffer()
        bytes.write(event: "alive", data: "{}".utf8)
        send(.bytes(bytes))
    }

    // MARK: Encoding

    private func send(event name: String, data: Data) {
        var bytes = ByteBuffer()
        bytes.write(event: name, data: data)
        send(.bytes(bytes))
    }

    /// Sends each stream what it carries of some content, and its position.
    private func send(_ content: EncodedEvents.Content) {
        var events = EncodedEvents(content, positions: feed.positions)
        for audience in audiences.values {
            if let bytes = events.bytes(for: audience.rights) { send(bytes, to: audience) }
        }
    }

    private func send(_ bytes: ByteBuffer, to audience: Audience) {
        for queue in audience.queues.values { queue.put(bytes) }
    }

    private static var reset: ByteBuffer {
        var bytes = ByteBuffer()
        bytes.write(event: "reset", data: "{}".utf8)
        return bytes
    }

    /// The events after a client's position; `nil` if they are not known, or too many.
    private func missed(since lastEventID: String, with rights: StreamRights) -> ByteBuffer? {
        guard let position = EventPosition(lastEventID) else { return nil }
        // With another part of the cube, messages of the past are visible or hidden that were not so before.
        guard position.seesAll == (rights.view == .all), position.seesAll || position.cube == rights.cube else { return nil }
        guard let entries = feed.changes(after: position.changes) else { return nil }
        var events = ByteBuffer()
        for entry in entries where rights.view.contains(entry.topicKey) {
            events.write(entry)
            guard events.readableBytes <= Self.maxMissedBytes else { return nil }
        }
        return events
    }

    private static func json(of version: CubeVersion) -> Data {
        Data("{\"version\":\(version)}".utf8)
    }
}

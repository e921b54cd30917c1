import Base
import FoundationEssentials
import HTTPRouting
import NIOCore
import Schemas

/// The open streams of persons, and what they are sent.
struct OpenPersonStreams: Sendable {
    typealias StreamID = Int

    private struct Stream: Sendable {
        let person: PersonCaller
        let queue: EventStreamQueue
    }

    private var feed: PersonFeed
    private var streams: [StreamID: Stream] = [:]
    private var ofAccount: [AccountName: Set<StreamID>] = [:]
    private var ofDevice: [ObjectID: Set<StreamID>] = [:]
    private var lastID = 0

    /// The range of the time after which a client reconnects, in milliseconds. It differs, so that not all come at once.
    private static let reconnectTimes = 1_000...3_000

    init(feed: PersonFeed = PersonFeed()) {
        self.feed = feed
    }

    var count: Int { streams.count }

    /// The persons of the open streams.
    var persons: [(id: StreamID, person: PersonCaller)] { streams.map { ($0.key, $0.value.person) } }

    /// Opens a stream: what the client has missed, or `reset`.
    ///
    /// - Parameter lastEventID: The client's `Last-Event-ID`; `nil` for a new client.
    mutating func open(_ queue: EventStreamQueue, for person: PersonCaller, lastEventID: String?) -> StreamID {
        lastID += 1
        streams[lastID] = Stream(person: person, queue: queue)
        ofAccount[person.account, default: []].insert(lastID)
        ofDevice[person.device, default: []].insert(lastID)
        var start = ByteBuffer(string: "retry: \(Int.random(in: Self.reconnectTimes))\n\n")
        if let lastEventID {
            if let missed = feed.events(of: person.account, after: lastEventID) {
                for entry in missed { start.write(event: "person", data: entry.json) }
            } else {
                start.write(event: "reset", data: "{}".utf8)
            }
        }
        start.write(eventID: feed.position)
        queue.put(start)
        return lastID
    }

    mutating func close(_ id: StreamID) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        Self.remove(id, from: &ofAccount, at: stream.person.account)
        Self.remove(id, from: &ofDevice, at: stream.person.device)
    }

    /// Ends a stream from this side.
    mutating func end(_ id: StreamID) {
        let queue = streams[id]?.queue
        close(id)
        queue?.finish()
    }

    /// Ends the streams of devices that have ended.
    mutating func end(_ ended: [EndedTokens]) {
        for end in ended {
            let ids = (end.device.flatMap { ofDevice[$0] } ?? []).union(end.account.flatMap { ofAccount[$0] } ?? [])
            for id in ids where streams[id].map({ end.ends($0.person.claims) }) ?? false { self.end(id) }
        }
    }

    /// Ends all streams.
    mutating func endAll() {
        for id in Array(streams.keys) { end(id) }
    }

    /// Sends an event to the streams of its person.
    mutating func add(_ event: PersonChanged) throws {
        let json = try JSONCoder.encode(PersonEvent(kind: event.kind, id: event.id))
        if feed.add(event, json: json) { send("reset", to: streams.keys) }
        guard let ids = ofAccount[event.account] else { return }
        send("person", json, to: ids)
    }

    /// Events may be missing.
    mutating func lose() {
        feed.lose()
        send("reset", to: streams.keys)
    }

    /// Sends a sign of life and the current position.
    func keepAlive() {
        send("alive", to: streams.keys)
    }

    private func send(_ name: String, _ json: Data = Data("{}".utf8), to ids: some Collection<StreamID>) {
        guard !ids.isEmpty else { return }
        var bytes = ByteBuffer()
        bytes.write(event: name, data: json)
        bytes.write(eventID: feed.position)
        for id in ids { streams[id]?.queue.put(bytes) }
    }

    private static func remove<Key: Hashable>(_ id: StreamID, from ids: inout [Key: Set<StreamID>], at key: Key) {
        ids[key]?.remove(id)
        if ids[key]?.isEmpty == true { ids[key] = nil }
    }
}

/// The data of the event `person`.
private struct PersonEvent: Codable {
    let kind: String
    let id: String?
}

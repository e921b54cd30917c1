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
        /// Whether the client has asked for the events of classes.
        let asksForClasses: Bool
        /// The classes whose events it gets.
        var classes: Set<ObjectID>
    }

    private var feed: PersonFeed
    private var classNumbers = EventNumbers()
    private var connections: [PersonEventSource: PersonSourceConnections] = [:]
    private var streams: [StreamID: Stream] = [:]
    private var ofAccount: [AccountName: Set<StreamID>] = [:]
    private var ofDevice: [ObjectID: Set<StreamID>] = [:]
    private var ofClass: [ObjectID: Set<StreamID>] = [:]
    private var lastID = 0

    /// The range of the time after which a client reconnects, in milliseconds. It differs, so that not all come at once.
    private static let reconnectTimes = 1_000...3_000
    /// The `kind` of a person's event after which their classes may be other ones.
    private static let classesKind = "classes"

    init(feed: PersonFeed = PersonFeed()) {
        self.feed = feed
    }

    var count: Int { streams.count }

    /// The position behind the last event.
    var position: String { feed.position }

    /// The persons of the open streams.
    var persons: [(id: StreamID, person: PersonCaller)] { streams.map { ($0.key, $0.value.person) } }

    /// Opens a stream: what the client has missed, or `reset`. Of classes it carries what happens from now on.
    ///
    /// - Parameters:
    ///   - lastEventID: The client's `Last-Event-ID`; `nil` for a new client.
    ///   - classes: `nil` if the client has asked for none.
    mutating func open(
        _ queue: EventStreamQueue, for person: PersonCaller, lastEventID: String?, classes: FollowedClasses? = nil
    ) -> StreamID {
        lastID += 1
        streams[lastID] = Stream(person: person, queue: queue, asksForClasses: classes != nil, classes: [])
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
        if let classes {
            let since = feed.events(of: person.account, after: classes.position)
            if let since, !since.contains(where: { $0.kind == Self.classesKind }) {
                follow(classes.ids, lastID)
            } else {
                // The client opens another stream.
                start.write(event: "person", data: #"{"kind":"\#(Self.classesKind)"}"#.utf8)
            }
        }
        start.write(eventID: feed.position)
        queue.put(start)
        return lastID
    }

    mutating func close(_ id: StreamID) {
        unfollow(id)
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
    mutating func add(_ event: PersonChanged, from source: PersonEventSource) throws {
        let json = try JSONCoder.encode(PersonEvent(kind: event.kind, id: event.id))
        if feed.add(event, from: source, json: json) {
            send("reset", Self.reset(by: source), to: streams.keys)
            if source == .study { renewFollowing() }
        }
        guard let ids = ofAccount[event.account] else { return }
        send("person", json, to: ids)
        guard event.kind == Self.classesKind else { return }
        // The client opens another stream.
        for id in ids { unfollow(id) }
    }

    /// Sends an event to the streams that follow its class.
    mutating func add(_ event: ClassChanged) throws {
        let json = try JSONCoder.encode(ClassEvent(classID: event.classID, session: event.session, kind: event.kind))
        if !classNumbers.isNext(event.number, of: event.epoch) {
            send("reset", Self.reset(by: .study), to: streams.filter { $0.value.asksForClasses }.map(\.key))
        }
        guard let ids = ofClass[event.classID] else { return }
        send("class", json, to: ids)
    }

    /// Events of a service, which is there, may be missing.
    mutating func lose(_ source: PersonEventSource) {
        forget(source)
        send("reset", Self.reset(by: source), to: streams.keys)
        if source == .study { renewFollowing() }
    }

    /// A connection to an instance of a service was made. What it told before may be missing, and what an app has read in between
    /// may be older than that.
    mutating func connected(_ source: PersonEventSource, to endpoint: String, now: ContinuousClock.Instant = .now) {
        connections[source, default: PersonSourceConnections()].connected(to: endpoint)
        forget(source)
        tellLosses(now: now)
    }

    /// A connection to an instance of a service was lost. Without another instance the streams are told when it is there again.
    mutating func disconnected(_ source: PersonEventSource, from endpoint: String, now: ContinuousClock.Instant = .now) {
        connections[source, default: PersonSourceConnections()].disconnected(from: endpoint)
        if connections[source]?.isConnected == true { forget(source) }
        tellLosses(now: now)
    }

    /// Tells the streams of lost events, as soon as it is time: see ``PersonSourceConnections``.
    mutating func tellLosses(now: ContinuousClock.Instant = .now) {
        for source in PersonEventSource.allCases {
            if connections[source]?.takeDue(now: now) == true { lose(source) }
        }
    }

    /// Earlier positions count no more. Without the word that somebody has left a class, no stream carries any.
    private mutating func forget(_ source: PersonEventSource) {
        feed.lose(source)
        guard source == .study else { return }
        classNumbers.forget()
        for id in Array(streams.keys) { unfollow(id) }
    }

    /// Sends a sign of life and the current position.
    func keepAlive() {
        send("alive", to: streams.keys)
    }

    // MARK: Classes

    private mutating func follow(_ classes: Set<ObjectID>, _ id: StreamID) {
        streams[id]?.classes = classes
        for classID in classes { ofClass[classID, default: []].insert(id) }
    }

    private mutating func unfollow(_ id: StreamID) {
        for classID in streams[id]?.classes ?? [] { Self.remove(id, from: &ofClass, at: classID) }
        streams[id]?.classes = []
    }

    /// Ends the streams whose clients have asked for classes. They open others, for which the persons' classes are read again: the
    /// word that somebody is in one no longer may be missing.
    private mutating func renewFollowing() {
        for (id, stream) in Array(streams) where stream.asksForClasses { end(id) }
    }

    // MARK: Bytes

    /// The data of the event `reset`: what to fetch again.
    private static func reset(by source: PersonEventSource) -> Data { Data(#"{"service":"\#(source.rawValue)"}"#.utf8) }

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

/// The data of the event `class`.
private struct ClassEvent: Codable {
    let classID: ObjectID
    let session: ObjectID
    let kind: ClassChanged.Kind

    private enum CodingKeys: String, CodingKey {
        case session, kind
        case classID = "class"
    }
}

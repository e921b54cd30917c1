import DequeModule
import NIOCore
import ServiceKit
import Synchronization

/// The open connections. Chooses those that are closed to make room for new ones.
struct OpenConnections {
    struct Connection {
        let channel: any Channel
        let activity: ConnectionActivity
        /// `nil` if the address' connections are not counted.
        let address: IPAddress?
        /// The maximum that it exceeds.
        var excess: ConnectionLimit.Excess?
        /// Whether it was closed to make room, and has not ended yet.
        var isClosing = false
    }

    static let maxSurplus = 16
    static let maxSurplusOfAddress = 4
    /// The pause after a search that found nothing to close: a search visits all connections.
    private static let searchPause = TimeAmount.milliseconds(100)

    private let max: Int
    private let maxPerAddress: Int
    private let minWait: TimeAmount
    private var connections: [ObjectIdentifier: Connection] = [:]
    private var ofAddress: [IPAddress: Count] = [:]
    private var all = Count()
    /// Whether the log's last line says that there is no room.
    private var isReported = false

    /// The number of open connections.
    var count: Int { connections.count }

    /// The connections in total, or of one address.
    private struct Count {
        var open = 0
        /// Those that were closed to make room.
        var closing = 0
        /// The connections above the maximum, the oldest first.
        var surplus: Deque<any Channel> = []
        /// The time of the next search for connections to close.
        var nextSearch = NIODeadline.uptimeNanoseconds(0)

        var lasting: Int { open - closing }

        mutating func remove(_ connection: Connection) {
            open -= 1
            if connection.isClosing { closing -= 1 }
            surplus.removeAll { $0 === connection.channel }
        }
    }

    init(max: Int, maxPerAddress: Int, minWait: TimeAmount) {
        self.max = max
        self.maxPerAddress = maxPerAddress
        self.minWait = minWait
    }

    subscript(channel: any Channel) -> Connection? { connections[ObjectIdentifier(channel)] }

    /// - Returns: The connections to close, and whether there is no room for the first time.
    mutating func opened(
        _ channel: any Channel, _ activity: ConnectionActivity, of address: IPAddress?, at now: NIODeadline
    ) -> (toClose: [any Channel], isNews: Bool) {
        var toClose: [any Channel] = []
        all.open += 1
        if let address {
            ofAddress[address, default: Count()].open += 1
            if ofAddress[address, default: Count()].lasting > maxPerAddress {
                toClose += makeRoom(of: address, maxPerAddress, at: now)
            }
        }
        if all.lasting > max { toClose += makeRoom(of: nil, max, at: now) }

        var connection = Connection(channel: channel, activity: activity, address: address)
        if let address, var count = ofAddress[address], count.lasting > maxPerAddress {
            connection.excess = .ofAddress
            count.surplus.append(channel)
            if count.surplus.count > Self.maxSurplusOfAddress { toClose.append(count.surplus.removeFirst()) }
            ofAddress[address] = count
        }
        let isFull = all.lasting > max
        if isFull {
            connection.excess = .total
            all.surplus.append(channel)
            if all.surplus.count > Self.maxSurplus { toClose.append(all.surplus.removeFirst()) }
        }
        connections[ObjectIdentifier(channel)] = connection
        defer { isReported = isReported || isFull }
        return (toClose, isFull && !isReported)
    }

    /// - Returns: Whether there is room again for the first time.
    mutating func closed(_ channel: any Channel) -> Bool {
        guard let connection = connections.removeValue(forKey: ObjectIdentifier(channel)) else { return false }
        all.remove(connection)
        if let address = connection.address, var count = ofAddress[address] {
            count.remove(connection)
            ofAddress[address] = count.open > 0 ? count : nil
        }
        // Hysteresis: the log reports free room only well below the maximum.
        guard isReported, all.open <= max - Swift.max(1, max / 10) else { return false }
        isReported = false
        return true
    }

    /// Chooses connections that wait for their client. With a high maximum it closes several at once, since each search visits all
    /// connections.
    private mutating func makeRoom(of address: IPAddress?, _ max: Int, at now: NIODeadline) -> [any Channel] {
        guard now >= (address.map { ofAddress[$0, default: Count()] } ?? all).nextSearch else { return [] }
        let waiting = connections.compactMap { id, connection -> (id: ObjectIdentifier, rank: ConnectionActivity.Rank)? in
            guard address == nil || connection.address == address, !connection.isClosing, connection.excess == nil else {
                return nil
            }
            return connection.activity.rank(waitingSince: now - minWait).map { (id, $0) }
        }
        guard let first = waiting.min(by: { $0.rank < $1.rank }) else {
            if let address {
                ofAddress[address]?.nextSearch = now + Self.searchPause
            } else {
                all.nextSearch = now + Self.searchPause
            }
            return []
        }
        // Closes only one if all of them have shown a credential.
        let chosen =
            first.rank.hasCredential
            ? [first] : waiting.filter { !$0.rank.hasCredential }.sorted { $0.rank < $1.rank }.prefix(1 + max / 50)
        return chosen.compactMap { close($0.id) }
    }

    private mutating func close(_ id: ObjectIdentifier) -> (any Channel)? {
        guard let connection = connections[id] else { return nil }
        connections[id]?.isClosing = true
        all.closing += 1
        if let address = connection.address { ofAddress[address]?.closing += 1 }
        return connection.channel
    }
}

/// The activity of a connection. It decides which connection is closed to make room for another.
final class ConnectionActivity: Sendable {
    private struct State {
        /// Since when the gateway waits for the client; `nil` while it works on a request, or sends a stream of events.
        var waitsSince: NIODeadline?
        /// Whether a request had a valid credential.
        var hasCredential = false
    }

    private let state: Mutex<State>

    init(openedAt now: NIODeadline) {
        state = Mutex(State(waitsSince: now))
    }

    /// The connection waits for the client since a time; `nil` if it does not.
    func waits(since time: NIODeadline?) {
        state.withLock { $0.waitsSince = time }
    }

    /// A request had a valid credential.
    func showedCredential() {
        state.withLock { $0.hasCredential = true }
    }

    /// The connection's rank: the lowest is closed first; `nil` if it must not be closed.
    ///
    /// - Parameter since: The connection waits at least since this time.
    func rank(waitingSince since: NIODeadline) -> Rank? {
        state.withLock { state in
            guard let waits = state.waitsSince, waits <= since else { return nil }
            return Rank(hasCredential: state.hasCredential, waitsSince: waits)
        }
    }

    /// Connections without a credential come first, then those that have waited longest.
    struct Rank: Comparable, Sendable {
        let hasCredential: Bool
        let waitsSince: NIODeadline

        static func < (one: Rank, other: Rank) -> Bool {
            one.hasCredential != other.hasCredential ? other.hasCredential : one.waitsSince < other.waitsSince
        }
    }
}

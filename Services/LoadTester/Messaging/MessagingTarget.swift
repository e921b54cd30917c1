import Base
import NIOHTTP1
import Schemas
import Synchronization

/// Students who write to each other as a target: each "message" is one message, from its sender to the app of its recipient.
struct MessagingTarget: LoadTarget {
    let hub: StudentHub
    /// In a ring: neighbours are friends.
    let users: [MessagingUser]
    let seed: UInt64
    let times = CallTimes<MessagingCall>()
    private let ids = SentMessages()

    /// One in so many messages is read at once, with those before it.
    private static let messagesPerRead = 5

    /// When messages were sent.
    private final class SentMessages: Sendable {
        let times = Mutex<[(id: String, at: UnixMilliseconds)]>([])
    }

    /// A call was not answered as it should be.
    private struct Refused: Error {
        let what: String
    }

    /// The ids of the messages that were accepted, and when they were sent.
    var sent: [(id: String, at: UnixMilliseconds)] { ids.times.withLock(\.self) }

    // MARK: The preparation

    /// Registers the students, and makes neighbours friends.
    ///
    /// - Parameters:
    ///   - phones: Registration tokens of FCM, for the first students.
    ///   - tell: Called with the progress.
    static func make(
        _ count: Int, phones: [String], at hub: StudentHub, seed: UInt64, tell: (String) -> Void
    ) async throws -> MessagingTarget {
        let prefix = StudentHub.newPrefix()
        tell("registering \(count) students")
        let users = try await StudentHub.concurrently(0..<count) { index in
            let account = "\(prefix)-\(index)"
            let signedIn = try await hub.signIn(account, phone: index < phones.count ? phones[index] : nil)
            return MessagingUser(account: account, token: signedIn.token)
        }
        tell("making them friends")
        // Two of them are friends already after the first one.
        _ = try await StudentHub.concurrently(0..<(count == 2 ? 1 : count)) { index in
            let (one, other) = (users[index], users[(index + 1) % count])
            try await hub.befriend((one.account, one.token), (other.account, other.token))
        }
        let target = MessagingTarget(hub: hub, users: users, seed: seed)
        // A device takes part from its first fetch on.
        _ = try await StudentHub.concurrently(0..<count) { index in try await target.fetch(by: users[index], nil) }
        target.times.begin()
        return target
    }

    private init(hub: StudentHub, users: [MessagingUser], seed: UInt64) {
        self.hub = hub
        self.users = users
        self.seed = seed
    }

    // MARK: The load

    /// The students write in turns, each to both neighbours in turns.
    func send(_ index: Int) async -> [String]? {
        let (place, turn) = (index % users.count, index / users.count)
        let neighbour = (place + (turn.isMultiple(of: 2) ? 1 : users.count - 1)) % users.count
        let (writer, reader) = (users[place], users[neighbour])
        do {
            let begun = UnixMilliseconds.now
            let message = try await write(index, by: writer, to: reader.account)
            ids.times.withLock { $0.append((message, begun)) }
            try await fetch(by: reader, message)
            guard reader.takes(message) else { return ["fetch: the message is missing"] }
            let after = reader.after
            _ = try await call(.confirm, .PUT, "/user/messages/received", ["after": .integer(after)], by: reader, 204)
            if index.isMultiple(of: Self.messagesPerRead) {
                _ = try await call(.read, .PUT, "/user/messages/\(message)/read", by: reader, 204)
            }
            return nil
        } catch let refused as Refused {
            return [refused.what]
        } catch {
            return [StudentHub.kind(of: error)]
        }
    }

    private func write(_ index: Int, by writer: MessagingUser, to account: String) async throws -> String {
        var random = StudentHub.generator(seed, index, 0)
        let length = Int.random(in: 10...300, using: &random)
        let text = String(repeating: "Are you coming to the library at three? ", count: length / 40 + 1).prefix(length)
        let answer = try await call(
            .write, .POST, "/user/messages", ["to": .string(account), "text": "\(text)?"], by: writer, 201,
            key: "\(ObjectID())")
        guard let id = answer["id"]?.string else { throw Refused(what: "write: the message has no id") }
        return id
    }

    /// Fetches as after a push: that is never a poll that comes too soon.
    private func fetch(by reader: MessagingUser, _ message: String?) async throws {
        let prompt = message.map { "&prompt=\($0)" } ?? ""
        reader.got(try await call(.fetch, .GET, "/user/messages?after=\(reader.after)&limit=200\(prompt)", by: reader, 200))
    }

    private func call(
        _ call: MessagingCall, _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, by user: MessagingUser,
        _ status: UInt, key: String? = nil
    ) async throws -> JSONValue {
        let begin = ContinuousClock.now
        let answer = try await hub.ask(method, path, body, token: user.token, key: key)
        times.add(call, answer.status, seconds: (ContinuousClock.now - begin) / .seconds(1))
        guard answer.status == status else { throw Refused(what: "\(call.rawValue): http \(answer.status)") }
        return answer.document
    }
}

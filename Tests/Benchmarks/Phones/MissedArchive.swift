import FoundationEssentials
import Base
import Archive
import NIOHTTP1
import Schemas
import TestSupport

/// A campus from whose archive phones fetch: subjects, and the messages of eight days.
struct MissedArchive: Sendable {
    /// Of Information, in ten channels.
    let subjects: [SubjectPath]

    /// The maximum number of messages that are inserted at once.
    private static let batch = 100
    /// No message is so new that a reader at the end would read it again.
    private static let age: Milliseconds = 120_000

    /// Creates the subjects, and inserts messages into the archive beside the message log.
    ///
    /// - Parameter folder: The state directory of the stack.
    static func make(of messages: Int, _ scale: Scale, at stack: MessageStack, in folder: String) async throws -> MissedArchive {
        var subjects: [SubjectPath] = []
        for _ in 0..<scale.pick(10, smoke: 2) {
            let first = try await stack.portal.makeSubject("Information", name: "Subject 1")
            subjects.append(first)
            for number in 2...scale.pick(50, smoke: 5) {
                let name = "Subject \(number)"
                subjects.append(try await stack.portal.makeSubject("Information", name: name, in: first.channel, first.area))
            }
        }
        let topics = subjects.compactMap { TopicKey($0.topicKey) }
        let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
        let end = UnixMilliseconds.now - age
        let begin = end - ReadAccepted.reach + age
        let step = (end.rawValue - begin.rawValue) / Int64(messages)
        for start in stride(from: 0, to: messages, by: batch) {
            let messages = (start..<min(start + batch, messages)).map { number in
                message(topics[number % topics.count], at: UnixMilliseconds(rawValue: begin.rawValue + Int64(number) * step))
            }
            try await concurrently(messages.count) { number in try await store.insert(messages[number], audit: nil) }
        }
        try await store.close()
        return MissedArchive(subjects: subjects)
    }

    /// Waits until the message log lets phones go on from the end of the archive, as it does a minute after a message. The archive was
    /// filled beside it within seconds.
    func waitUntilOld(at stack: MessageStack) async throws {
        let topics = subjects.prefix(ReadAccepted.maxTopics).map { JSONValue.string($0.topicKey) }
        // The archive ends a few minutes ago.
        let end = PageCursor(before: .now - Self.age * 5)
        let body: JSONValue = ["topics": .array(topics), "after": .string("\(PageCursor(before: .now))")]
        try await eventually("phones go on from the end of the archive", within: .seconds(180), every: .seconds(1)) {
            let answer = try await stack.portal.with(token: nil).call(.POST, "/message/since", body)
            guard answer.status == 200, let next = try answer.json["next"]?.string.flatMap({ PageCursor($0) }) else {
                throw UnexpectedAnswer(answer)
            }
            return next > end
        }
    }

    private static func message(_ topic: TopicKey, at timestamp: UnixMilliseconds) -> Message {
        Message(
            msiKey: ObjectID(),
            content: MessageContent(
                title: "Library", desc: "",
                message: "The library and the canteen stay closed until tomorrow at noon. All lectures of today are cancelled.",
                topicKey: topic, distribution: .information),
            sender: "Communicator", timestamp: timestamp,
            names: CubeNames(channel: "Campus", area: "Library", subject: "Hours"), expires: timestamp + 2_419_200_000,
            relay: RelayRecord(
                state: .relayed, attempts: 1, nextAttempt: nil, ended: timestamp + 20, accepted: timestamp + 20,
                components: [ComponentRecord(component: .data, state: .accepted, name: "projects/p/messages/0:1")]))
    }

    /// The topics of a phone: a few of the campus's subjects.
    func subscriptions() -> [String] {
        subjects.shuffled().prefix(Int.random(in: 3...8)).map(\.topicKey).sorted()
    }
}

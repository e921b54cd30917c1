import Base
import NIOHTTP1
import Schemas
import TestSupport

/// One person who writes to friends, on up to three devices, while the hub fails.
struct MessagingPerson: Sendable {
    let account: String
    /// The first one has a phone.
    let devices: [RunStudent]
    let friends: [String]
    let ledger: MessagingLedger

    private enum Act {
        case write, fetch, read
    }

    private static let acts: [Act] = [.write, .write, .fetch, .fetch, .fetch, .read]
    /// Small, so that fetches have several pages.
    private static let page = 20

    /// Does one thing.
    func act(_ turn: Int, _ random: inout SeededGenerator) async throws {
        guard let act = Self.acts.randomElement(using: &random), let friend = friends.randomElement(using: &random),
            let device = devices.randomElement(using: &random)
        else { return }
        switch act {
        case .write: try await write("turn \(turn) of \(account)", to: friend, on: device)
        // A poll that comes too soon finds nothing.
        case .fetch: try await fetch(on: device, mayBeRefused: true)
        case .read: try await read(from: friend, on: device)
        }
    }

    private func write(_ text: String, to friend: String, on device: RunStudent) async throws {
        let answer = try await device.expect(
            [201], .POST, "/user/messages", ["to": .string(friend), "text": .string(text)], key: text)
        guard answer.status == 201 else { return }
        let message: DirectMessage = try JSONCoder.decode(from: answer.answer.body)
        ledger.note { $0.sent.append(Letter(message, text: text)) }
    }

    /// Gets what is new on a device, page by page. Each page is confirmed.
    func fetch(on device: RunStudent, mayBeRefused: Bool = false) async throws {
        var hasMore = true
        while hasMore {
            let after = ledger.position(of: device.device)
            let answer = try await device.expect(
                mayBeRefused ? [200, 429] : [200], .GET, "/user/messages?after=\(after)&limit=\(Self.page)")
            guard answer.status == 200 else { return }
            let news: MessageNews = try JSONCoder.decode(from: answer.answer.body)
            ledger.got(news, on: device.device)
            try await device.expect([204], .PUT, "/user/messages/received", ["after": .integer(news.after)])
            hasMore = news.more == true
        }
    }

    /// Reads what a device has of a friend's messages.
    private func read(from friend: String, on device: RunStudent) async throws {
        guard let last = ledger.last(from: friend, on: device.device) else { return }
        try await device.expect([204], .PUT, "/user/messages/\(last.id)/read")
    }

    // MARK: The end

    /// Writes once more to each friend. Whatever was read by a clock that was ahead then, and is not removed yet, is looked at
    /// when this is read.
    func writeLast() async throws {
        try await devices[0].renew()
        for friend in friends { try await write("the last of \(account) to \(friend)", to: friend, on: devices[0]) }
    }

    /// Gets everything on each device.
    func finish() async throws {
        for device in devices {
            try await device.renew()
            try await fetch(on: device)
        }
    }

    /// Reads everything.
    func readAll() async throws {
        for friend in friends { try await read(from: friend, on: devices[0]) }
    }

    /// The person's conversations.
    func sides() async throws -> [MessagingEvidence.Side] {
        var sides: [MessagingEvidence.Side] = []
        for friend in friends {
            guard let answer = await devices[0].read("/user/conversations/\(friend)"), answer.status == 200 else { continue }
            let page: ConversationPage = try JSONCoder.decode(from: answer.body)
            sides.append(
                MessagingEvidence.Side(
                    account: account, other: friend, conversation: page.conversation, left: page.messages.count))
        }
        return sides
    }
}

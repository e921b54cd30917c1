import Base
import Bus
import FoundationEssentials
import NIOHTTP1
import Schemas
import ServiceKit
import TestSupport

/// A conversation with many messages that nobody has read, on SQLite: what it takes to open it, to fetch all of them, and to read them.
struct UnreadBenchmark {
    let scale: Scale
    /// The folder for the product's data.
    let folder: String

    private var messages: Int { scale.pick(10_000, smoke: 30) }
    private var openings: Int { scale.pick(200, smoke: 2) }
    private static let services = ["msi-cube", "msi-people", "msi-message-log", "msi-messaging", "msi-gateway"]
    private static let clients = 8
    private static let address = "192.0.2.1"

    private struct Figures: Encodable {
        let benchmark = "unread"
        let messages: Int
        /// The last fifty messages, in milliseconds.
        let open: Latency
        /// A page of two hundred of a fetch, with its confirmation, in milliseconds.
        let page: Latency
        /// All of them, in seconds.
        let all: Double
        /// The word that all are read, in milliseconds.
        let read: Double
    }

    func run() async throws {
        let settings = ["MSI_MESSAGING_PER_MINUTE": "6000"]
        let figures = try await StudentStack.with(
            Self.services, streams: 1, settings: settings, in: folder + "/product"
        ) { stack, _ in
            try await withBus { bus in try await measure(stack, stack.client(of: .messaging, on: bus)) }
        }
        say(Table.row("unread", "open p50 ms", "p99", "page p50 ms", "p99", "all s", "read ms", first: 14))
        say(
            Table.row(
                "\(figures.messages)",
                [
                    "\(figures.open.p50)", "\(figures.open.p99)", "\(figures.page.p50)", "\(figures.page.p99)", "\(figures.all)",
                    "\(figures.read)",
                ], first: 14))
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ stack: StudentStack, _ messaging: CommandClient) async throws -> Figures {
        let students = try await stack.students(2)
        let (ann, ben) = (students[0], students[1])
        try await stack.befriend(ann, ben)
        let portal = stack.portal.with(token: ben.token.text)
        _ = try await portal.document("/user/messages?after=0&limit=200")
        try await fill(from: ann, to: ben, messaging)

        var openings: [Double] = []
        for _ in 0..<self.openings {
            let begin = ContinuousClock.now
            let page = try await portal.document("/user/conversations/\(ann.account)?limit=50")
            openings.append((ContinuousClock.now - begin) / .milliseconds(1))
            let unread = page["conversation"]?["unread"]?.integer
            guard unread == Int64(messages), page["messages"]?.elements?.count == min(50, messages) else {
                throw PeerFailure(description: "the conversation has \(String(describing: unread)) unread messages")
            }
        }
        let (pages, last) = try await fetchAll(portal)
        let begin = ContinuousClock.now
        let read = try await portal.call(.PUT, "/user/messages/\(last)/read")
        guard read.status == 204 else { throw UnexpectedAnswer(read) }
        return Figures(
            messages: messages, open: Latency(openings), page: Latency(pages), all: (pages.reduce(0, +) / 1_000).twoDigits,
            read: ((ContinuousClock.now - begin) / .milliseconds(1)).twoDigits)
    }

    private func fill(
        from writer: StudentStack.Student, to reader: StudentStack.Student, _ messaging: CommandClient
    ) async throws {
        guard let to = AccountName(reader.account) else { throw PeerFailure(description: "\(reader.account) is no name") }
        let context = CallerContext(actor: writer.account, address: Self.address)
        try await concurrently(Self.clients) { [messages] client in
            for number in stride(from: client, to: messages, by: Self.clients) {
                let draft = DirectMessageDraft(to: to, text: "Message \(number), which nobody has read yet")
                try await Self.send(SendDirectMessage(draft), messaging, context)
            }
        }
    }

    /// Waits if there were too many within a minute.
    private static func send(
        _ command: SendDirectMessage, _ messaging: CommandClient, _ context: CallerContext
    ) async throws {
        while true {
            do throws(CommandFailure) {
                _ = try await messaging.request(command, timeout: .seconds(60), context: context)
                return
            } catch {
                guard error.status == .overloaded else { throw error }
            }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    /// - Returns: How long each page took, in milliseconds, and the id of the last message.
    private func fetchAll(_ portal: Portal) async throws -> (pages: [Double], last: String) {
        var pages: [Double] = []
        var after: Int64 = 0
        var count = 0
        var last = ""
        while true {
            let begin = ContinuousClock.now
            let news = try await portal.document("/user/messages?after=\(after)&limit=200")
            after = news["after"]?.integer ?? 0
            let confirmed = try await portal.call(.PUT, "/user/messages/received", ["after": .integer(after)])
            guard confirmed.status == 204 else { throw UnexpectedAnswer(confirmed) }
            pages.append((ContinuousClock.now - begin) / .milliseconds(1))
            let messages = news["messages"]?.elements ?? []
            count += messages.count
            last = messages.last?["id"]?.string ?? last
            guard news["more"] == true else { break }
        }
        guard count == messages else { throw PeerFailure(description: "\(count) of \(messages) messages were fetched") }
        return (pages, last)
    }
}

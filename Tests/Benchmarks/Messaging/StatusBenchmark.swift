import Base
import Bus
import FoundationEssentials
import Schemas
import ServiceKit
import TestSupport

/// Messages at a constant rate, before and while a million statuses end at once, on SQLite. The services' clock is a day behind until then.
struct StatusBenchmark {
    let scale: Scale
    /// The folder for the product's data.
    let folder: String

    private var statuses: Int { scale.pick(1_000_000, smoke: 200) }
    /// Messages a second, and for how many seconds.
    private var rate: Double { scale.pick(100, smoke: 20) }
    private var seconds: Double { scale.pick(60, smoke: 0.5) }
    private static let pairs = 10
    private static let clients = 64
    private static let day = 86_400
    private static let services = ["msi-cube", "msi-people", "msi-message-log", "msi-messaging"]
    private static let address = "192.0.2.1"

    private struct Figures: Encodable {
        let benchmark = "statuses"
        let statuses: Int
        /// How many were stored a second.
        let added: Double
        /// Milliseconds until a message is accepted.
        let before: Latency
        let during: Latency
        /// How many ended a second.
        let ended: Double
    }

    func run() async throws {
        let clock = try FakeClock(in: folder)
        let settings = clock.settings.merging(["MSI_MESSAGING_PER_MINUTE": "6000"]) { $1 }
        let figures = try await StudentStack.with(
            Self.services, streams: 1, settings: settings, in: folder + "/product"
        ) { stack, _ in
            try await withBus { bus in try await measure(stack, stack.client(of: .messaging, on: bus), clock) }
        }
        say(Table.row("statuses", "added/s", "before p50 ms", "p99", "during p50 ms", "p99", "ended/s", first: 14))
        say(
            Table.row(
                "\(figures.statuses)",
                [
                    "\(figures.added)", "\(figures.before.p50)", "\(figures.before.p99)", "\(figures.during.p50)",
                    "\(figures.during.p99)", "\(figures.ended)",
                ], first: 14))
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ stack: StudentStack, _ messaging: CommandClient, _ clock: FakeClock) async throws -> Figures {
        let students = try await stack.students(2 * Self.pairs)
        for pair in 0..<Self.pairs { try await stack.befriend(students[2 * pair], students[2 * pair + 1]) }
        // The tokens that sign them in are of the right time.
        try clock.set(ahead: -Self.day)
        let begin = ContinuousClock.now
        try await concurrently(Self.clients) { [statuses] client in
            for number in stride(from: client, to: statuses, by: Self.clients) {
                _ = try await messaging.request(
                    SetStatus(StatusDraft(text: "In the library until four, table \(number)")), timeout: .seconds(60),
                    context: CallerContext(actor: "reader-\(number)", address: Self.address))
            }
        }
        let added = Double(statuses) / ((ContinuousClock.now - begin) / .seconds(1))
        say("\(statuses) statuses")
        let before = try await write(students, messaging)
        let all = try await count(in: stack)
        guard all == statuses else { throw PeerFailure(description: "\(all) of \(statuses) statuses are there") }

        try clock.set(ahead: 0)
        let ending = ContinuousClock.now
        let during = try await write(students, messaging)
        let left = try await eventually("statuses end") {
            let left = try await count(in: stack)
            return left < statuses ? left : nil
        }
        let ended = Double(statuses - left) / ((ContinuousClock.now - ending) / .seconds(1))
        return Figures(
            statuses: statuses, added: added.rounded(), before: Latency(before), during: Latency(during), ended: ended.rounded())
    }

    /// Students write to their friends, at a constant rate.
    ///
    /// - Returns: Milliseconds from the time when a message was due.
    private func write(_ students: [StudentStack.Student], _ messaging: CommandClient) async throws -> [Double] {
        let names = students.compactMap { AccountName($0.account) }
        return try await ConstantRate(count: max(1, Int(rate * seconds)), period: .seconds(seconds)).run { number in
            let writer = number % students.count
            // Of a pair the other one.
            let draft = DirectMessageDraft(to: names[writer ^ 1], text: "Message \(number)")
            _ = try await messaging.request(
                SendDirectMessage(draft), timeout: .seconds(60),
                context: CallerContext(actor: students[writer].account, address: Self.address))
        }.map(\.time)
    }

    /// How many statuses the store has, with those that have ended.
    private func count(in stack: StudentStack) async throws -> Int {
        let script = """
            import sqlite3, sys
            store = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
            print(store.execute("SELECT count(*) FROM person_status").fetchone()[0])
            """
        let output = try await Peer(path: "/usr/bin/python3").output(["-c", script, stack.folder + "/messaging.sqlite"])
        guard let count = Int(output.filter(\.isNumber)) else { throw PeerFailure(description: "no number: \(output)") }
        return count
    }
}

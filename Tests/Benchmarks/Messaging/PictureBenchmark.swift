import Base
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Schemas
import TestSupport

/// Uploads of pictures, each another one and durable on SQLite, in turn with a bare Hummingbird route that reads as many bytes and answers with
/// the same.
struct PictureBenchmark {
    let scale: Scale
    /// The folder for the product's data.
    let folder: String

    private var rounds: Int { scale.pick(3, smoke: 1) }
    /// The students of a round, who upload at the same time, each one picture after the other. A student may have fifty waiting.
    private var students: Int { scale.pick(8, smoke: 2) }
    private var pictures: Int { scale.pick(40, smoke: 2) }
    private var bytes: Int { scale.pick(256 << 10, smoke: 4 << 10) }
    private static let services = ["msi-cube", "msi-people", "msi-messaging", "msi-gateway"]

    private struct Figures: Encodable {
        struct Server: Encodable {
            /// Uploads a second.
            let rate: Double
            /// Milliseconds.
            let latency: Latency
        }

        let benchmark = "pictures"
        let bytes: Int
        let gateway: Server
        let peer: Server
    }

    func run() async throws {
        let figures = try await StudentStack.with(Self.services, streams: students, in: folder + "/product") { stack, _ in
            try await measure(stack)
        }
        say(Table.row("KiB", "uploads/s", "p50 ms", "p99", "bare route", "p50 ms", "p99", first: 14))
        say(
            Table.row(
                "\(figures.bytes >> 10)",
                [figures.gateway, figures.peer].flatMap { ["\($0.rate)", "\($0.latency.p50)", "\($0.latency.p99)"] }, first: 14))
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ stack: StudentStack) async throws -> Figures {
        let students = try await stack.students(rounds * self.students + 1)
        let count = self.students * pictures
        let first = TestPicture.stripes(bytes: bytes, seed: UInt64(rounds * count))
        let example = try await upload(first, to: stack.portal.port, students[students.count - 1].token.text, stack.portal)
        guard example.status == 201 else { throw UnexpectedAnswer(example) }
        return try await BareServer.serving(example, in: folder) { port in
            var gateway: [Figures.Server] = []
            var peer: [Figures.Server] = []
            for round in 0..<rounds {
                // The same bytes would be stored once.
                let bodies = (round * count..<(round + 1) * count).map { TestPicture.stripes(bytes: bytes, seed: UInt64($0)) }
                let tokens = students[(round * self.students)...].prefix(self.students).map(\.token.text)
                gateway.append(try await uploadAll(bodies, to: stack.portal.port, tokens, stack.portal, status: 201))
                peer.append(try await uploadAll(bodies, to: port, tokens, stack.portal, status: 200))
            }
            return Figures(bytes: first.count, gateway: Self.median(gateway), peer: Self.median(peer))
        }
    }

    private static func median(_ rounds: [Figures.Server]) -> Figures.Server {
        Figures.Server(rate: rounds.map(\.rate).median.twoDigits, latency: .median(rounds.map(\.latency)))
    }

    private func uploadAll(
        _ bodies: [Data], to port: Int, _ tokens: [String], _ portal: Portal, status: Int
    ) async throws -> Figures.Server {
        let begin = ContinuousClock.now
        let times = try await concurrently(tokens.count) { [self] client in
            var times: [Double] = []
            for number in stride(from: client, to: bodies.count, by: tokens.count) {
                let sent = ContinuousClock.now
                let answer = try await upload(bodies[number], to: port, tokens[client], portal)
                guard answer.status == status else { throw UnexpectedAnswer(answer) }
                times.append((ContinuousClock.now - sent) / .milliseconds(1))
            }
            return times
        }.flatMap { $0 }
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        return Figures.Server(rate: Double(times.count) / seconds, latency: Latency(times))
    }

    private func upload(_ body: Data, to port: Int, _ token: String, _ portal: Portal) async throws -> HTTPAnswer {
        try await portal.http.answer(
            .POST, "http://127.0.0.1:\(port)/user/pictures",
            headers: ["Authorization": "Bearer \(token)", "Content-Type": TestPicture.mediaType], body: body,
            within: .seconds(60))
    }
}

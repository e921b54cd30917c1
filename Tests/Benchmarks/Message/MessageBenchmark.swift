import FoundationEssentials
import JSON
import MongoDatabase
import NIOHTTP1
import Schemas
import TestSupport

/// The product's main job as one figure: messages that are posted, archived, relayed and shown on a phone, by the
/// product's own executables.
struct MessageBenchmark {
    private static let clients = [1, 16, 64, 256]
    private static let rounds = 3
    private static let seconds = 3.0
    private static let subjects = 20
    private static let clientsWithoutPhone = 64

    let peers: String
    /// On a disk, since durable writes are a part of the measurement.
    let folder: String

    struct Lost: Error, CustomStringConvertible {
        let description: String
    }

    func run() async throws {
        say(
            "messages from the post to the phone, each an Alert with two sends, beside the parts alone "
                + "(\(Self.rounds) rounds of \(Int(Self.seconds)) s; milliseconds)")
        let parts = MessageParts(peers: peers, folder: folder)
        let relays = try await parts.relays(clients: Self.clients)
        let sqlite = try await measure(
            .sqlite(folder: folder, peers: peers), database: nil, in: try makeFolder("sqlite-state"), parts, relays)
        let mongodb = try await BenchmarkedDatabase.withMongoDB(in: folder) { url, process -> MessageFigures.Database in
            let url = BenchmarkedDatabase.url(url, database: "message\(ObjectID())")
            return try await measure(
                .mongodb(try MongoURL(url), text: url, peers: peers), database: (url, process),
                in: try makeFolder("mongodb-state"), parts, relays)
        }
        say(
            String(decoding: try JSONCoder.encode(MessageFigures(databases: [sqlite, mongodb])), as: UTF8.self))
    }

    /// A state directory, which must be closed to other users. Its path is short, because it contains sockets.
    private func makeFolder(_ name: String) throws -> String {
        let path = "\(folder)/\(name)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return path
    }

    private func measure(
        _ benchmarked: BenchmarkedDatabase, database: (url: String, process: Int32?)?, in folder: String,
        _ parts: MessageParts, _ relays: [Int: Double]
    ) async throws -> MessageFigures.Database {
        let inserts = try await parts.inserts(benchmarked, clients: Self.clients)
        return try await MessageStack.with(database: database, in: folder) { stack in
            let driver = GatewayDriver(
                port: stack.portal.port, token: stack.portal.token ?? "", peers: peers, folder: folder)
            let subjects = try await makeSubjects(stack.portal)
            let rounds = try await BenchmarkPhone.with(topics: subjects.map(\.topicKey), at: stack.fcm) { phone in
                try await run(stack, driver, phone, to: subjects)
            }
            let withoutPhone = try await runWithoutPhone(stack, driver, to: subjects)
            let routes = try await parts.routes(driver, clients: Self.clients)
            let loads = rounds.map { rounds in
                rounds.figures(
                    route: routes[rounds.clients] ?? 0, insert: inserts[rounds.clients] ?? 0, relay: relays[rounds.clients] ?? 0)
            }
            let figures = MessageFigures.Database(database: benchmarked.name, loads: loads, withoutPhone: withoutPhone)
            figures.show()
            guard loads.allSatisfy({ $0.lost == 0 && $0.relayed == $0.accepted }) else {
                throw Lost(description: "\(benchmarked.name): messages were accepted, and not relayed or not delivered")
            }
            return figures
        }
    }

    private func makeSubjects(_ portal: Portal) async throws -> [SubjectPath] {
        let first = try await portal.makeSubject("Alert")
        var subjects = [first]
        for number in 1..<Self.subjects {
            subjects.append(
                try await portal.makeSubject("Alert", name: "Hours \(number)", in: first.channel, first.area))
        }
        return subjects
    }

    private func run(
        _ stack: MessageStack, _ driver: GatewayDriver, _ phone: BenchmarkPhone, to subjects: [SubjectPath]
    ) async throws -> [MessageRounds] {
        var warmUp = MessageRounds(clients: Self.clientsWithoutPhone)
        try await warmUp.run(stack, driver, phone, to: subjects, seconds: 1)
        var rounds = Self.clients.map { MessageRounds(clients: $0) }
        for _ in 0..<Self.rounds {
            for index in rounds.indices {
                try await rounds[index].run(stack, driver, phone, to: subjects, seconds: Self.seconds)
            }
        }
        return rounds
    }

    /// The same load while no phone is subscribed: until FCM has accepted every component.
    private func runWithoutPhone(
        _ stack: MessageStack, _ driver: GatewayDriver, to subjects: [SubjectPath]
    ) async throws -> MessageFigures.WithoutPhone {
        _ = try await stack.fcm.call(.DELETE, "/emulator/counts")
        let before = try StackUsage(of: stack)
        let start = ContinuousClock.now
        let answers = try await driver.post(to: subjects, clients: Self.clientsWithoutPhone, seconds: Self.seconds)
        try await eventually("FCM has everything", within: .seconds(60), every: .milliseconds(20)) {
            try await stack.fcm.counts().distinct >= answers.count * RunningRelay.sendsOfCommand
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return MessageFigures.WithoutPhone(
            inFlight: Self.clientsWithoutPhone, rate: (Double(answers.count) / seconds).rounded(),
            processes: try StackUsage(of: stack).figures(since: before, messages: answers.count))
    }
}

import FoundationEssentials
import JSON
import MongoDatabase
import NIOHTTP1
import Schemas
import TestSupport

/// The product's main job as one figure: messages that are posted, archived, relayed and shown on a phone, by the
/// product's own executables.
struct MessageBenchmark {
    let scale: Scale
    let peers: String
    /// On a disk, since durable writes are a part of the measurement.
    let folder: String

    private var clients: [Int] { scale.pick([1, 16, 64, 256], smoke: [1, 16]) }
    private var rounds: Int { scale.pick(3, smoke: 1) }
    private var seconds: Double { scale.pick(3, smoke: 0.2) }
    private var subjects: Int { scale.pick(20, smoke: 2) }
    private var clientsWithoutPhone: Int { scale.pick(64, smoke: 16) }

    struct Lost: Error, CustomStringConvertible {
        let description: String
    }

    func run() async throws {
        say(
            "messages from the post to the phone, each an Alert with two sends, beside the parts alone "
                + "(\(rounds) rounds of \(Int(seconds)) s; milliseconds)")
        let parts = MessageParts(scale: scale, peers: peers, folder: folder)
        // The sink may not be installed.
        let relays = scale == .full ? try await parts.relays(clients: clients) : [:]
        var databases = [
            try await measure(
                .sqlite(folder: folder, peers: peers), database: nil, in: folder + "/sqlite-state", parts, relays)
        ]
        if scale == .full { databases.append(try await measureOnMongoDB(parts, relays)) }
        say(String(decoding: try JSONCoder.encode(MessageFigures(databases: databases)), as: UTF8.self))
    }

    private func measureOnMongoDB(_ parts: MessageParts, _ relays: [Int: Double]) async throws -> MessageFigures.Database {
        try await BenchmarkedDatabase.withMongoDB(in: folder) { url, process in
            let url = BenchmarkedDatabase.url(url, database: "message\(ObjectID())")
            return try await measure(
                .mongodb(try MongoURL(url), text: url, peers: peers), database: (url, process),
                in: folder + "/mongodb-state", parts, relays)
        }
    }

    private func measure(
        _ benchmarked: BenchmarkedDatabase, database: (url: String, process: Int32?)?, in folder: String,
        _ parts: MessageParts, _ relays: [Int: Double]
    ) async throws -> MessageFigures.Database {
        let inserts = try await parts.inserts(benchmarked, clients: clients)
        return try await MessageStack.with(database: database, in: folder) { stack in
            let driver = GatewayDriver(
                port: stack.portal.port, token: stack.portal.token ?? "", peers: peers, folder: folder)
            let subjects = try await makeSubjects(stack.portal)
            let rounds = try await BenchmarkPhone.with(topics: subjects.map(\.topicKey), at: stack.fcm) { phone in
                try await run(stack, driver, phone, to: subjects)
            }
            let withoutPhone = try await runWithoutPhone(stack, driver, to: subjects)
            let routes = try await parts.routes(driver, clients: clients)
            let loads = rounds.map { rounds in
                rounds.figures(
                    route: routes[rounds.clients] ?? 0, insert: inserts[rounds.clients] ?? 0, relay: relays[rounds.clients])
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
        for number in 1..<self.subjects {
            subjects.append(
                try await portal.makeSubject("Alert", name: "Hours \(number)", in: first.channel, first.area))
        }
        return subjects
    }

    private func run(
        _ stack: MessageStack, _ driver: GatewayDriver, _ phone: BenchmarkPhone, to subjects: [SubjectPath]
    ) async throws -> [MessageRounds] {
        var warmUp = MessageRounds(clients: clientsWithoutPhone)
        try await warmUp.run(stack, driver, phone, to: subjects, seconds: scale.pick(1, smoke: 0.2))
        var rounds = clients.map { MessageRounds(clients: $0) }
        for _ in 0..<self.rounds {
            for index in rounds.indices {
                try await rounds[index].run(stack, driver, phone, to: subjects, seconds: seconds)
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
        let answers = try await driver.post(to: subjects, clients: clientsWithoutPhone, seconds: seconds)
        try await eventually("FCM has everything", within: .seconds(60), every: .milliseconds(20)) {
            try await stack.fcm.counts().distinct >= answers.count * RunningRelay.sendsOfCommand
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return MessageFigures.WithoutPhone(
            inFlight: clientsWithoutPhone, rate: (Double(answers.count) / seconds).rounded(),
            processes: try StackUsage(of: stack).figures(since: before, messages: answers.count))
    }
}

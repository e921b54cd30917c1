import FoundationEssentials
import Base
import Store
import NIOHTTP1
import Schemas
import TestSupport

/// The product's main job as one figure: messages that are posted, archived and relayed by the product's own executables. FCM is a
/// sink, which costs little, and then the emulator with a phone, which shows that each message arrives.
struct MessageBenchmark {
    let scale: Scale
    let peers: String
    /// On a disk, since durable writes are a part of the measurement.
    let folder: String

    /// A database's connection string, and the process of the server if it is on this machine; `nil` for SQLite.
    private typealias Database = (url: String, process: Int32?)

    private var clients: [Int] { scale.pick([1, 16, 64, 256], smoke: [1, 4]) }
    private var clientsWithPhone: [Int] { scale.pick([1, 64], smoke: [1, 4]) }
    private var rawClients: [Int] { scale.pick([1, 16, 64], smoke: [1]) }

    func runOnSQLite() async throws {
        try await run("message", .sqlite(folder: folder, peers: peers)) { nil }
    }

    func runOnMongoDB() async throws {
        try await BenchmarkedDatabase.withMongoDB(in: folder) { url, process in
            try await run("message-mongodb", .mongodb(try MongoURL(url), text: url, peers: peers)) {
                (BenchmarkedDatabase.url(url, database: "message\(ObjectID())"), process)
            }
        }
    }

    /// - Parameter database: Makes an empty database for a stack.
    private func run(_ name: String, _ benchmarked: BenchmarkedDatabase, _ database: () -> Database?) async throws {
        say("messages from the post to FCM and the phone, each an Alert with two sends, beside the parts alone")
        let parts = MessageParts(scale: scale, peers: peers, folder: folder)
        let inserts = try await parts.inserts(benchmarked, clients: clients)
        // The sink is not installed for a smoke run.
        let relays = scale == .full ? try await parts.relays(clients: clients) : [:]
        var storage = StorageRounds(scale: scale, database: benchmarked, folder: folder, clients: rawClients)
        let sink = scale == .full ? try await measureOnSink(database(), beside: &storage) : nil
        let (phone, routes) = try await measureWithPhone(database(), parts, beside: &storage)
        let oneClient = (sink ?? phone).loads.first?.rate
        let figures = MessageFigures(
            benchmark: name, database: benchmarked.name, sink: sink, phone: phone,
            parts: clients.map { clients in
                MessageFigures.Part(
                    inFlight: clients, route: routes[clients]?.rounded() ?? 0, insert: inserts[clients]?.rounded() ?? 0,
                    rawInsert: storage.inserts[clients], relay: relays[clients]?.rounded())
            },
            sync: storage.sync,
            oneClientShare: storage.inserts[1].flatMap { insert in oneClient.map { ($0 / insert).twoDigits } })
        figures.show()
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measureOnSink(_ database: Database?, beside storage: inout StorageRounds) async throws -> MessageFigures.Run {
        try await RelaySink.with(in: folder + "/sink") { sink in
            let state = folder + "/sink-state"
            return try await MessageStack.with(database: database, sink: sink, in: state) { stack in
                let target = try await target(stack, in: state, phone: nil, makeSubjects(stack.portal))
                return try await MessageRun(scale: scale, target: target, clients: clients, seconds: 3).measure(beside: &storage)
            }
        }
    }

    /// - Returns: The figures, and the answers a second of the gateway alone.
    private func measureWithPhone(
        _ database: Database?, _ parts: MessageParts, beside storage: inout StorageRounds
    ) async throws -> (run: MessageFigures.Run, routes: [Int: Double]) {
        let state = folder + "/phone-state"
        return try await MessageStack.with(database: database, in: state) { stack in
            guard let emulator = stack.emulator else { throw PeerFailure(description: "there is no FCM emulator") }
            let subjects = try await makeSubjects(stack.portal)
            return try await BenchmarkPhone.with(topics: subjects.map(\.topicKey), at: emulator) { phone in
                let target = target(stack, in: state, phone: phone, subjects)
                let run = MessageRun(
                    scale: scale, target: target, clients: clientsWithPhone, seconds: scale.pick(2, smoke: 0.2))
                return (try await run.measure(beside: &storage), try await parts.routes(target.driver, clients: clients))
            }
        }
    }

    private func target(
        _ stack: MessageStack, in folder: String, phone: BenchmarkPhone?, _ subjects: [SubjectPath]
    ) -> MessageTarget {
        MessageTarget(
            stack: stack,
            driver: GatewayDriver(port: stack.portal.port, token: stack.portal.token ?? "", peers: peers, folder: folder),
            subjects: subjects, phone: phone, afterwork: scale.pick(.seconds(1), smoke: .zero))
    }

    private func makeSubjects(_ portal: Portal) async throws -> [SubjectPath] {
        let first = try await portal.makeSubject("Alert")
        var subjects = [first]
        for number in 1..<scale.pick(20, smoke: 2) {
            subjects.append(
                try await portal.makeSubject("Alert", name: "Hours \(number)", in: first.channel, first.area))
        }
        return subjects
    }
}

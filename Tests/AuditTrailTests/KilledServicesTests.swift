import AuditTrail
import CommandBus
import Foundation
import JSON
import Schemas
import TestSupport
import Testing
import Time

/// Services that are killed between a change and its acknowledgement by the audit log.
@Suite("Audit of killed services", .timeLimit(.minutes(5)))
struct KilledServicesTests {
    private static let rounds = 6
    private static let ann = RequestContext(actor: "ann", address: "192.0.2.7")

    /// Waits until the log contains all of these actions of objects, and nothing else.
    private static func expect(
        _ expected: [String], in log: AuditLog, _ key: @escaping (AuditEntry) -> String
    ) async throws {
        let wanted = expected.sorted()
        var found: [String] = []
        do {
            // MongoDB keeps the transaction of a killed process for a minute (transactionLifetimeLimitSeconds).
            try await eventually("all \(wanted.count) entries", within: .seconds(120), every: .milliseconds(100)) {
                found = try await log.links().compactMap(\.content).map(key).sorted()
                return found.count >= wanted.count
            }
        } catch {
            Issue.record("found \(found.count) of \(wanted.count) entries: \(error)")
        }
        #expect(found == wanted)
        try await log.expectWhole()
    }

    @Test(
        "No change of the cube is lost or recorded twice if the cube and the people service are killed again and again",
        arguments: StoreKind.allCases)
    func cube(_ kind: StoreKind) async throws {
        try await AuditLog.with(kind) { log in
            let cube = try log.client(of: "cube")
            var added: [String] = []
            var (service, people) = (try await log.start("msi-cube"), try await log.startPeople())
            for round in 0..<Self.rounds {
                for number in 0..<15 {
                    let draft = NamedDraft(name: "\(round) \(number)", desc: "")
                    let edit = try await cube.request(AddChannel(channel: draft), context: Self.ann)
                    added.append("\(edit.value.id)")
                }
                // Between 0 and 1.2 s after the changes: before, while and after they are forwarded.
                try await Task.sleep(for: .milliseconds(.random(in: 0...1_200)))
                if round % 2 == 0 {
                    await service.kill()
                    service = try await log.start("msi-cube")
                } else {
                    await people.kill()
                    people = try await log.startPeople()
                }
            }
            try await Self.expect(added, in: log) { $0.object.id }
            #expect(await service.stop() == 0)
            #expect(await people.stop() == 0)
        }
    }

    @Test(
        "No sent, recalled or retried message is lost or recorded twice if the message log and the people service are killed",
        arguments: StoreKind.allCases)
    func messages(_ kind: StoreKind) async throws {
        try await AuditLog.with(kind) { log in
            let archive = try log.client(of: "message-log")
            var done: [String] = []
            var (service, people) = (try await log.start("msi-message-log"), try await log.startPeople())
            for round in 0..<Self.rounds {
                for number in 0..<40 {
                    let message = try await archive.request(LogMessage.scheduled("\(round) \(number)"), context: Self.ann).message
                    done.append("message.send \(message.msiKey)")
                    guard number % 4 == 0 else { continue }
                    _ = try await archive.request(RecallMessage(msiKey: message.msiKey), context: Self.ann)
                    done.append("message.recall \(message.msiKey)")
                }
                try await Task.sleep(for: .milliseconds(.random(in: 0...1_200)))
                if round % 2 == 0 {
                    await service.kill()
                    service = try await log.start("msi-message-log")
                } else {
                    await people.kill()
                    people = try await log.startPeople()
                }
            }
            try await Self.expect(done, in: log) { "\($0.action) \($0.object.id)" }
            #expect(await service.stop() == 0)
            #expect(await people.stop() == 0)
        }
    }

    @Test(
        "While the people service is away, changes wait; afterwards each is recorded with who, from where and what",
        arguments: StoreKind.allCases)
    func away(_ kind: StoreKind) async throws {
        try await AuditLog.with(kind) { log in
            let (cube, archive) = (try log.client(of: "cube"), try log.client(of: "message-log"))
            let services = [try await log.start("msi-cube"), try await log.start("msi-message-log")]
            let channel = try await cube.request(AddChannel(channel: NamedDraft(name: "C", desc: "")), context: Self.ann).value
            let command = LogMessage.scheduled("Title")
            _ = try await archive.request(command, context: Self.ann)
            // Repeating the command sends nothing more.
            _ = try await archive.request(command, context: Self.ann)
            try await log.withPeople { _ in
                try await Self.expect(["\(channel.id)", "\(command.msiKey)"], in: log) { $0.object.id }
                let entries = try await log.links().compactMap(\.content)
                #expect(entries.allSatisfy { $0.actor == "ann" && $0.address == "192.0.2.7" })
                let sent = try #require(entries.first { $0.action == "message.send" })
                #expect(sent.object == AuditObject(kind: "message", id: "\(command.msiKey)"))
                #expect(sent.after?["topic_key"]?.string == "\(command.draft.topicKey)")
                // printf Title | sha256sum
                let digest = "7e8cd2056da73a7fefb6cd91f4e5d199d08d9058c517b9a2476b1b520324d674"
                #expect(sent.after?["sha256"]?["title"]?.string == digest)
                #expect(try await !log.links().map(\.entry).joined().contains(command.draft.message))
            }
            for service in services { #expect(await service.stop() == 0) }
        }
    }
}

extension AuditLog {
    func start(_ service: String) async throws -> ServiceProcess {
        try await ServiceProcess(service, in: folder, settings: settings)
    }

    /// A client of another service of the place.
    func client(of service: String) throws -> CommandClient {
        try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/\(service).sock"], logger: quietLogger)
    }
}

extension LogMessage {
    /// A message that goes out in an hour.
    static func scheduled(_ title: String) -> LogMessage {
        let later = UnixMilliseconds.now + 3_600_000
        return LogMessage(
            msiKey: ObjectID(),
            draft: MessageDraft(
                title: title, desc: "Desc", message: "The text of the message",
                topicKey: TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()), distribution: .alert,
                sendAt: later),
            timestamp: .now, names: CubeNames(channel: "C", area: "A", subject: "S"), expires: later + 3_600_000)
    }
}

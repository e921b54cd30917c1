import AuditTrail
import Base
import Bus
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

/// A folder or database with an audit log, and a client of the people service there.
struct AuditLog {
    let folder: String
    let url: String?
    let bus: Bus
    let client: CommandClient

    /// The settings for every service of the place.
    var settings: [String: String] { url.map { ["MSI_DATABASE_URL": $0] } ?? [:] }

    /// Runs a test with an empty place. No service runs.
    static func with<Result>(
        _ kind: StoreKind, instances: [String] = ["people"], isolation: isolated (any Actor)? = #isolation,
        _ body: (AuditLog) async throws -> Result
    ) async throws -> Result {
        try await with(url: kind.newDatabaseURL(), instances: instances, body)
    }

    /// Runs a test with an empty place whose database server no other test uses.
    static func alone<Result>(
        with kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (AuditLog) async throws -> Result
    ) async throws -> Result {
        switch kind {
        case .sqlite: try await with(kind, body)
        case .mongodb: try await withMongoServer { try await with(url: $0.url(), instances: ["people"], body) }
        }
    }

    private static func with<Result>(
        url: String?, instances: [String], isolation: isolated (any Actor)? = #isolation,
        _ body: (AuditLog) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { folder in
            try await withBus { bus in
                let endpoints = instances.map { "ipc://\(folder)/run/\($0).sock" }
                let client = try CommandClient(bus: bus, endpoints: endpoints, logger: quietLogger)
                return try await body(AuditLog(folder: folder, url: url, bus: bus, client: client))
            }
        }
    }

    /// Runs a test with the people service.
    func withPeople<Result>(
        named name: String = "people", isolation: isolated (any Actor)? = #isolation,
        _ body: (ServiceProcess) async throws -> Result
    ) async throws -> Result {
        try await withService("msi-people", in: folder, settings: peopleSettings(name), body)
    }

    func start(_ service: String) async throws -> ServiceProcess {
        try await ServiceProcess(service, in: folder, settings: settings)
    }

    /// A client of another service of the place.
    func client(of service: String) throws -> CommandClient {
        try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/\(service).sock"], logger: quietLogger)
    }

    private func peopleSettings(_ name: String) -> [String: String] {
        settings.merging([
            "MSI_PEOPLE_LISTEN": "ipc://\(folder)/run/\(name).sock",
            "MSI_PEOPLE_EVENTS_LISTEN": "ipc://\(folder)/run/\(name)-events.sock",
        ]) { _, name in name }
    }

    /// The whole log.
    func links(page: Int64 = ReadAuditChain.maxPerPage) async throws -> [AuditLink] {
        var links: [AuditLink] = []
        var after: String?
        repeat {
            let reply = try await client.request(ReadAuditChain(after: after, limit: page))
            links += reply.links
            after = reply.next
        } while after != nil
        return links
    }

    /// What `msi audit verify` says, and its status.
    func verify(_ arguments: String...) async throws -> (status: Int32, text: String) {
        let msi = try await ChildProcess(
            URL(filePath: try BuiltProduct.path(of: "msi")), ["audit", "verify"] + arguments,
            environment: ["MSI_STATE_DIR": folder, "SWIFT_BACKTRACE": "enable=no"], logFile: folder + "/verify.log")
        return (await msi.end(), msi.log)
    }

    /// Adds entries, and repeats that while the database is too busy, as a forwarder does.
    func add(_ entries: [AuditEntry]) async throws {
        try await eventually("the entries are added") {
            do {
                _ = try await client.request(AddAuditEntries(entries: entries))
                return true
            } catch let error as CommandFailure where error.status == .unavailable {
                return false
            }
        }
    }

    /// Checks that the log is whole and that no entry is in it twice.
    func expectWhole(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        var verification = AuditVerification()
        var links: [AuditLink] = []
        var after: String?
        repeat {
            let part = try await client.request(ReadAuditChain(after: after))
            try verification.verify(part)
            links += part.links
            after = part.next
        } while after != nil
        #expect(Set(links.map(\.entryID)).count == links.count, sourceLocation: sourceLocation)
    }
}

extension LogMessage {
    /// A message that goes out in an hour.
    static func scheduled(_ title: String) -> LogMessage {
        let later = UnixMilliseconds.now + 3_600_000
        return LogMessage(
            msiKey: ObjectID(),
            content: MessageContent(
                title: title, desc: "Desc", message: "The text of the message",
                topicKey: TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()), distribution: .alert,
                sendAt: later),
            timestamp: .now, names: CubeNames(channel: "C", area: "A", subject: "S"), expires: later + 3_600_000)
    }
}

extension CommandClient {
    /// Waits longer for a reply than the product does by default. These tests share one database server, and some of them keep it
    /// busy; what they assert is what is stored, not how soon.
    nonisolated(nonsending) func request<C: Command>(
        _ command: C, context: CallerContext = .init()
    ) async throws(CommandFailure) -> C.Reply {
        try await request(command, timeout: .seconds(60), context: context)
    }
}

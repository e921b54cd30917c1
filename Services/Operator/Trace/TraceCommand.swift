import ArgumentParser
import Bus
import FoundationEssentials
import Glibc
import Base
import Schemas
import ServiceKit

/// `msi trace`: one message's life.
struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Prints the life of a message or a push, from the archive, the audit log and the services' logs.",
        discussion: """
            The gateway and the token are those of `msi send`. A push, and the blocks of a message's pushes to browsers, are looked for at \
            MSI_MESSAGE_LOG_ENDPOINTS. A block is a push as well; it is removed a day after its end. The log lines are those \
            with its key, and those of its trace: of the request that posted it, and of every attempt to deliver it. They come from the log \
            folder in MSI_STATE_DIR, and from systemd's journal if this machine has units of the product. What cannot be read is \
            said, and the rest is printed. The services log what goes wrong with a message, and what people do to it; what goes well, only at \
            MSI_LOG_LEVEL=debug.

            Exit status: 0 if it is found, 1 if nothing has the key, 64 if the key is none, 75 if the gateway does not answer, 77 if the \
            token is missing or does not allow it, 78 if a setting is wrong.
            """)

    @Argument(help: "An msi_key, the id of a push, a trace id (which is an X-Request-Id), or a traceparent.")
    var key: TraceKey

    @Option(
        name: .customLong("log"), help: ArgumentHelp("A folder with log files, instead of the usual places.", valueName: "folder")
    )
    var folder: String?

    @Flag(help: "Read the logs from systemd's journal alone.")
    var journal = false

    @Flag(name: .customLong("json"), help: "Print each life as a line of JSON.")
    var printsJSON = false

    func validate() throws {
        if journal, folder != nil { throw ValidationError("give --log or --journal") }
    }

    func run() async throws {
        try await Self.withGateway { gateway, settings in
            let begin = UnixMilliseconds.now
            var failure: GatewayFailure?
            var lives: [ItemLife] = []
            do {
                lives = try await self.lives(gateway, settings)
            } catch let error as GatewayFailure {
                // The logs may say enough.
                failure = error
            }
            if lives.isEmpty { lives = [ItemLife()] }
            var isLogKnown = false
            for index in lives.indices {
                isLogKnown = await addLog(to: &lives[index], before: begin, settings)
                if failure == nil { await addAudit(to: &lives[index], gateway) }
                await addBlocks(to: &lives[index], settings)
            }
            let known = lives.filter { !$0.isEmpty }
            for life in known { try show(life, isArchiveKnown: failure == nil, isLogKnown: isLogKnown) }
            if let failure { throw failure }
            guard known.isEmpty else { return }
            Self.say(
                "nothing is known about \(key.text): no message, no push, no log line; messages are removed after MSI_MESSAGE_RETENTION"
            )
            throw ExitCode.failure
        }
    }

    private func show(_ life: ItemLife, isArchiveKnown: Bool, isLogKnown: Bool) throws {
        if printsJSON {
            print(String(decoding: try JSONCoder.encode(life), as: UTF8.self))
        } else {
            print("\(LifeText(life: life, key: key, isArchiveKnown: isArchiveKnown, isLogKnown: isLogKnown))\n")
        }
    }

    private struct Page: Decodable {
        let messages: [Message]
    }

    /// The messages or the push with the key.
    ///
    /// - Throws: ``GatewayFailure``.
    private func lives(_ gateway: GatewayClient, _ settings: SettingValues) async throws -> [ItemLife] {
        switch key {
        case .item(let id):
            do {
                return [ItemLife(message: try await gateway.getOnce("/message/\(id)"))]
            } catch let failure as GatewayFailure where failure.kind == .notFound {
                return await push(id, settings).map { [ItemLife(push: $0)] } ?? []
            }
        case .trace(let id):
            let page: Page = try await gateway.getOnce("/message?trace_id=\(id)")
            return page.messages.reversed().map { ItemLife(message: $0) }
        }
    }

    /// Reads a push from the message log; `nil` if there is none, or if the message log does not answer, which is printed.
    private func push(_ id: ObjectID, _ settings: SettingValues) async -> Push? {
        do {
            return try await CommandClient.with(settings.value(.endpoints(of: .messageLog)), settings) {
                try await $0.request(GetPush(pushID: id))
            }
        } catch let failure as CommandFailure where failure.status == .notFound {
            return nil
        } catch {
            Self.say("pushes cannot be looked for: \(error)")
            return nil
        }
    }

    /// Adds the blocks of a message's pushes to browsers, if it may have any.
    private func addBlocks(to life: inout ItemLife, _ settings: SettingValues) async {
        guard let message = life.message,
            message.relay.components.contains(where: { $0.component == .webpush && $0.browsers != 0 })
        else { return }
        do {
            life.blocks = try await MessageBlock.all(of: message.msiKey, settings)
        } catch {
            Self.say("the blocks of pushes to browsers cannot be looked for: \(error)")
        }
    }

    private struct AuditPage: Decodable {
        let entries: [NumberedAuditEntry]
        let next: String?
    }

    /// Adds the entries of the audit log about a message.
    private func addAudit(to life: inout ItemLife, _ gateway: GatewayClient) async {
        let object: ObjectID
        switch key {
        case .item(let id): object = life.message?.msiKey ?? id
        case .trace:
            guard let message = life.message else { return }
            object = message.msiKey
        }
        guard life.push == nil else { return }
        do {
            let since = life.logged.map { "&from=\(max(0, $0.rawValue - 86_400_000))" } ?? ""
            var path: String? = "/audit?limit=200&object=\(object)\(since)"
            while let next = path {
                let page: AuditPage = try await gateway.getOnce(next)
                life.audit += page.entries
                path = page.next
            }
            life.audit.sort { $0.number < $1.number }
        } catch {
            Self.say("the audit log cannot be read: \(error)")
        }
    }

    /// - Parameter begin: The start of this command, whose own questions may be in the logs as well.
    /// - Returns: Whether there are logs here, and all of them could be read.
    private func addLog(
        to life: inout ItemLife, before begin: UnixMilliseconds, _ settings: SettingValues
    ) async -> Bool {
        var (keys, traceIDs): (Set<String>, Set<String>) = ([], [])
        switch key {
        case .item(let id): keys.insert(id.description)
        case .trace(let id): traceIDs.insert(id.description)
        }
        if let key = life.message?.msiKey ?? life.push?.id { keys.insert(key.description) }
        if let id = life.traceID { traceIDs.insert(id.description) }
        var records: Set<LogRecord> = []
        var isKnown = false
        do {
            let own = try settings.value(.stateDirectory) + "/log"
            let isFolderUsed = !journal && (folder != nil || FileManager.default.fileExists(atPath: own))
            let isJournalUsed = journal || (folder == nil && Journal.hasUnits)
            if isFolderUsed { records.formUnion(try LogFolder(path: folder ?? own).records(with: keys.union(traceIDs))) }
            if isJournalUsed { records.formUnion(try await Journal.records(keys: keys, traceIDs: traceIDs)) }
            isKnown = isFolderUsed || isJournalUsed
            if !isKnown {
                Self.say("there are no logs here: no folder \(own), and no units of the product; --log names a folder")
            }
        } catch {
            Self.say("not all logs can be read: \(error)")
        }
        life.log = records.filter { $0.time < begin }.sorted { ($0.time, $0.service, $0.text) < ($1.time, $1.service, $1.text) }
            .map(ItemLife.Line.init)
        return isKnown
    }
}

/// What `msi trace` looks for.
enum TraceKey: Hashable, Sendable {
    /// The `msi_key` of a message, or the id of a push.
    case item(ObjectID)
    /// What one request has caused.
    case trace(TraceID)

    var text: String {
        switch self {
        case .item(let id): id.description
        case .trace(let id): id.description
        }
    }
}

extension TraceKey: ExpressibleByArgument {
    /// Reads an `msi_key` or a push's id (24 digits), a trace id or `X-Request-Id` (32 digits, or a UUID), or a `traceparent`.
    init?(argument: String) {
        if let id = ObjectID(argument) {
            self = .item(id)
        } else if let trace = Traceparent(argument).flatMap({ TraceID($0.traceID) }) ?? TraceID(argument.filter { $0 != "-" }) {
            self = .trace(trace)
        } else {
            return nil
        }
    }
}

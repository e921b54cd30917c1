import AuditTrail
import Base
import Bus
import CoreMetrics
import Instruments
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store
import Synchronization

/// Erases persons: at once in this service, and then in the others, which it asks until they have answered.
///
/// The line in ``ErasureLog`` is written before the transaction that erases, and from then on there is no way back. The start erases
/// what the log names and the store does not, so a line without a transaction is made good, and the data of a restored backup is
/// erased again.
struct Erasures: Service {
    /// Another service with personal data.
    struct Other: Sendable {
        let name: String
        let client: CommandClient
    }

    private let store: Storage
    private let changes: PeopleChanges
    private let log: ErasureLog
    private let others: [Other]
    private let logger: Logger
    /// Logs that the store or the file fails.
    private let outage: OutageLog
    /// Logs that other services do not answer.
    private let unanswered: OutageLog
    private let openLines = OpenLines()
    private let waiting = Instrument.erasuresWaiting.gauge()

    private static let period = Duration.seconds(1)
    private static let maxPause = Duration.seconds(60)
    /// How long one service may take, if nobody waits for the answer.
    private static let requestTimeout = Duration.seconds(30)
    /// The time that is left for the reply to a caller who waits.
    private static let replyTime = Milliseconds.seconds(1)
    private static let maxPerRound = 100
    /// How long an erasure by another instance of the service may be missing in this one's log.
    private static let logPeriod = Duration.seconds(3_600)
    private static let pageSize = 500

    init(store: Storage, changes: PeopleChanges, log: ErasureLog, others: [Other], logger: Logger) {
        self.store = store
        self.changes = changes
        self.log = log
        self.others = others
        self.logger = logger
        outage = OutageLog("persons cannot be erased", logger: logger)
        unanswered = OutageLog("a service has not erased persons yet", logger: logger)
    }

    /// Erases the person of an account.
    ///
    /// - Parameters:
    ///   - challenge: The nonce that it uses up; `nil` for none.
    ///   - deadline: When the caller stops waiting for the other services; `nil` for a caller who does not wait for them.
    ///   - check: Throws if the erasure is not allowed. It is called in a transaction, before the line in the log.
    /// - Returns: What came of it until then.
    /// - Throws: ``CommandFailure``: `not_found` if there is no such account, `conflict` if it is one of staff, `unavailable` if the log
    ///   takes no line; the error of `check`.
    func begin(
        _ name: AccountName, by author: AuditAuthor, using challenge: Challenge? = nil, until deadline: UnixMilliseconds? = nil,
        check: @escaping @Sendable (PeopleChange, AccountDocument) throws -> Void = { _, _ in }
    ) async throws -> ErasureReport {
        let (digest, begun) = try await changes.make(by: author) { change in
            if let challenge { try change.transaction.use(challenge) }
            let begun = try change.transaction.unfinishedErasure(of: name)
            if begun == nil { try check(change, change.erasable(name)) }
            return (name.digest(by: try change.transaction.namesKey()), begun)
        }
        let erasure: ErasureDocument
        if let begun {
            erasure = begun
        } else {
            erasure = try await erase(name, digest: digest, by: author)
        }
        guard let deadline else { return erasure.report }
        return try await finish(erasure, by: deadline - Self.replyTime)
    }

    /// Erases a person in this service. Behind the line in the log nothing is checked any more: the next start would erase the person
    /// anyway.
    private func erase(_ name: AccountName, digest: String, by author: AuditAuthor) async throws -> ErasureDocument {
        try note(digest)
        do {
            return try await changes.make(by: author) { change in
                if let begun = try change.transaction.unfinishedErasure(of: name) { return begun }
                let account = try change.transaction.account(name)
                return try change.erase(account, digest: digest)
            }
        } catch {
            openLines.add()
            throw error
        }
    }

    private func note(_ digest: String) throws(CommandFailure) {
        do throws(ErasureLog.Failed) {
            try log.append([ErasureLog.Line(at: changes.now(), digest: digest)])
        } catch {
            logger.error("an erasure cannot be begun", metadata: ["error": "\(error)"])
            throw CommandFailure(.unavailable, "the erasure cannot be noted on the disk; nothing was done", retryAfter: 2_000)
        }
    }

    /// Asks the services once, for a caller who waits.
    private func finish(_ erasure: ErasureDocument, by deadline: UnixMilliseconds) async throws -> ErasureReport {
        for other in others {
            let timeout = deadline - .now
            guard timeout > .zero, (try? await ask(other, to: erasure, timeout: Duration(timeout))) != nil else { break }
        }
        // Another read may need the write-ahead log for a moment.
        while (try? await end(erasure.id)) == nil, deadline - .now > Self.replyTime {
            guard (try? await Task.sleep(for: Self.period)) != nil else { break }
        }
        return try await store.get(erasure.id, from: PeopleStore.erasures)?.report ?? erasure.report
    }

    // MARK: In the background

    /// Adds to the log what only the store names, such as an erasure by another instance of the service.
    ///
    /// - Returns: What only the log names.
    private func completeLog() async throws -> [ErasureLog.Line] {
        let logged = try log.lines()
        var known: [String: UnixMilliseconds] = [:]
        try await forEach(in: PeopleStore.erasedNames) { known[$0.id] = $0.at }
        let digests = Set(logged.map(\.digest))
        // This makes the file at the first start: a state directory without it is that of another machine.
        try log.append(known.filter { !digests.contains($0.key) }.map { ErasureLog.Line(at: $1, digest: $0) })
        return logged.filter { known[$0.digest] == nil }
    }

    /// Erases what the log names and the store does not, and completes the log. Erasures that ended beside a backup are repeated after its
    /// restore.
    private func eraseAgain() async throws {
        let key = try await store.transaction { try $0.namesKey() }
        try await store.transaction { try $0.nameRepeatedErasures(by: key) }
        let missing = try await completeLog()
        guard !missing.isEmpty else { return }
        let erased = Set(missing.map(\.digest))
        var found: [AccountName] = []
        try await forEach(in: PeopleStore.accounts) { if erased.contains($0.name.digest(by: key)) { found.append($0.name) } }
        for name in found {
            try await changes.make(by: .program) { change in
                let digest = name.digest(by: key)
                guard try !change.transaction.isErased(name),
                    let account = try change.transaction.get(name.key, from: PeopleStore.accounts)?.document
                else { return }
                _ = try change.erase(account, digest: digest)
            }
        }
        for start in stride(from: 0, to: missing.count, by: Self.pageSize) {
            let lines = missing[start...].prefix(Self.pageSize)
            try await store.transaction { transaction in
                for line in lines { try transaction.addErasedName(line.digest, at: line.at) }
            }
        }
        logger.notice(
            "the log of erasures has persons whom the store did not know as erased",
            metadata: ["persons": "\(missing.count)", "erased": "\(found.count)"])
    }

    private func forEach<Document>(in collection: Collection<Document>, _ body: (Document) -> Void) async throws {
        var cursor: Cursor?
        repeat {
            let page = try await store.page(of: collection, after: cursor, limit: Self.pageSize)
            for stored in page.documents { body(stored.document) }
            cursor = page.next
        } while cursor != nil
    }

    /// What one round leaves for the next one.
    private struct Rounds: Sendable {
        /// When the log was completed.
        var logged = ContinuousClock.now
        /// The pauses of services that do not answer, by their names, and when they end.
        var pauses: [String: (backoff: Backoff, end: ContinuousClock.Instant)] = [:]
    }

    func run() async throws {
        let unfinished: @Sendable () async throws -> [ErasureDocument] = store.repeatedPage(
            of: PeopleStore.erasures, Query(where: PeopleStore.erasureEnd == nil), limit: Self.maxPerRound)
        await RepeatingService(every: Self.period, outage: outage, from: Rounds()) { rounds in
            if openLines.take() {
                do {
                    try await eraseAgain()
                } catch {
                    openLines.add()
                    throw error
                }
            } else if rounds.logged + Self.logPeriod <= .now {
                _ = try await completeLog()
                rounds.logged = .now
            }
            let erasures = try await unfinished()
            waiting.set(erasures.count)
            for other in others { await ask(other, to: try await unfinished(), &rounds) }
            for erasure in try await unfinished() where erasure.unanswered.isEmpty { try await end(erasure.id) }
            return .periodic
        }.run()
    }

    private func ask(_ other: Other, to erasures: [ErasureDocument], _ rounds: inout Rounds) async {
        let open = erasures.filter { $0.isToAsk(other.name) }
        let pause = rounds.pauses[other.name]
        guard !open.isEmpty, pause.map({ $0.end <= .now }) ?? true else { return }
        var failure: CommandFailure?
        for erasure in open {
            do {
                try await ask(other, to: erasure, timeout: Self.requestTimeout)
            } catch {
                failure = error as? CommandFailure ?? CommandFailure(.internal, "\(error)")
                // One that fails for another reason must not keep the others from being erased.
                if failure?.isAbsence == true { break }
            }
        }
        guard let failure else {
            rounds.pauses[other.name] = nil
            return unanswered.worked(of: other.name)
        }
        unanswered.failed(failure, of: other.name)
        var backoff = pause?.backoff ?? Backoff(first: Self.period, max: Self.maxPause)
        let length = backoff.failed()
        rounds.pauses[other.name] = (backoff, .now + length)
    }

    /// Asks a service to erase, and stores its answer.
    private func ask(_ other: Other, to erasure: ErasureDocument, timeout: Duration) async throws {
        guard let account = erasure.account else {
            throw CommandFailure(.internal, "the audit log does not name the person of the erasure \(erasure.id)")
        }
        let reply = try await other.client.request(ErasePerson(account), timeout: timeout)
        let answer = ErasureReport.Service(service: other.name, removed: reply.removed, stays: reply.stays)
        try await store.update(erasure.id, in: PeopleStore.erasures) { current in
            if !current.services.contains(where: { $0.service == other.name }) { current.services.append(answer) }
        }
    }

    /// Ends an erasure that all services have answered.
    private func end(_ id: ObjectID) async throws {
        let isAnswered = try await store.transaction { transaction in
            let erasure = try transaction.get(id, from: PeopleStore.erasures)?.document
            guard let erasure, erasure.finished == nil, erasure.unanswered.isEmpty else { return false }
            try transaction.forgetName(of: id)
            return true
        }
        guard isAnswered else { return }
        try await store.removeTraces()
        let now = changes.now()
        try await store.update(id, in: PeopleStore.erasures) { erasure in
            // A caller who waits may end it beside the loop.
            guard erasure.finished == nil else { return }
            erasure.finished = now
            erasure.expires = now + ErasureDocument.keptFor
        }
    }
}

/// Whether the log may have lines that the store does not know: at the start, and when a transaction behind a line has failed.
private final class OpenLines: Sendable {
    private let mayBe = Mutex(true)

    func add() { mayBe.withLock { $0 = true } }

    /// Whether there may be some, which the caller then makes good.
    func take() -> Bool {
        mayBe.withLock { mayBe in
            defer { mayBe = false }
            return mayBe
        }
    }
}

extension CommandFailure {
    /// Whether the service is away, or of a version that does not know the command.
    fileprivate var isAbsence: Bool {
        [.unavailable, .deadlineExceeded, .overloaded].contains(status) || isUnknownCommand
    }
}

import FoundationEssentials
import GRDB
import Base
import Synchronization

/// Tells the hub which messages have reached this phone, and which were opened: what FCM has accepted is not what has arrived.
///
/// A report has no name: it has a random id of this installation, so that the hub counts a repeated report once. The student can
/// switch reports off.
public final class Receipts: Sendable {
    enum Kind: String {
        case received, opened
    }

    /// Requests to report what waits.
    let requests = RefreshRequests()
    private let hub: any HubConnection
    private let database: AppDatabase
    private let clock: any DeviceClock
    /// The reports that are on their way. The hub takes them in their order only.
    private let sending = Mutex<Task<Void, any Error>?>(nil)

    private static let path = "/receipt"
    private static let offMemory = "receipts off"
    private static let lastReportMemory = "last report"
    /// The random delay within which phones report a message.
    private static let spread = Duration.seconds(60)
    /// The maximum number of messages of a report (the hub's `POST /receipt`).
    private static let maxPerReport = 200
    /// What could not be reported for this long is not reported: the hub has forgotten what came before.
    private static let waitingPeriod: Int64 = 8 * 86_400_000

    init(hub: any HubConnection, database: AppDatabase, clock: any DeviceClock) {
        self.hub = hub
        self.database = database
        self.clock = clock
        // What the app could not report before it ended.
        requests.add(.soon)
    }

    /// Whether the phone reports.
    public func areOn() async throws -> Bool {
        try await database.db.read(Self.areOn)
    }

    /// Switches receipts on or off. Switching them off discards pending ones.
    public func set(_ areOn: Bool) async throws {
        try await database.db.write { db in
            try db.keep(areOn ? nil : "true", as: Self.offMemory)
            if !areOn { try db.execute(sql: "DELETE FROM Receipt WHERE NOT sent") }
        }
    }

    /// Sends all pending receipts now, such as before the system suspends the app.
    ///
    /// - Throws: ``HubFailure``, or the error of the connection. Receipts that were not sent stay pending.
    public func send() async throws {
        let task = sending.withLock { sending in
            let previous = sending
            let task = Task { [self] in
                _ = await previous?.result
                try await sendWaiting()
            }
            sending = task
            return task
        }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Reports each message within a minute, until the task is cancelled.
    func run(failed: @Sendable (any Error) -> Void) async {
        var backoff = Backoff(first: .seconds(1), max: Self.spread, jitter: 0.5...1)
        while await requests.next() != nil {
            do {
                guard try await isWaiting() else { continue }
                try await clock.sleep(for: Self.spread * Double.random(in: 0...1))
                while true {
                    do {
                        try await send()
                        break
                    } catch {
                        if Task.isCancelled { return requests.add(.soon) }
                        failed(error)
                        try await clock.sleep(for: backoff.failed())
                    }
                }
                backoff.succeeded()
            } catch {
                // The next run reports it, or the next message.
                if Task.isCancelled { return requests.add(.soon) }
                failed(error)
            }
        }
    }

    /// A message has arrived or was opened. Opening counts only if the arrival did: the student may have switched reports on since.
    static func note(_ kind: Kind, _ msiKey: String, at now: Int64, _ db: Database) throws {
        guard try areOn(db) else { return }
        if kind == .opened {
            let sql = "SELECT TRUE FROM Receipt WHERE msi_key = ? AND kind = ?"
            guard try Bool.fetchOne(db.cachedStatement(sql: sql), arguments: [msiKey, Kind.received.rawValue]) != nil else {
                return
            }
        }
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO Receipt (msi_key, kind, at) VALUES (?, ?, ?)").execute(arguments: [
            msiKey, kind.rawValue, now,
        ])
    }

    private static func areOn(_ db: Database) throws -> Bool {
        try db.memory(offMemory) == nil
    }

    private func isWaiting() async throws -> Bool {
        try await database.db.read { db in
            try Bool.fetchOne(db.cachedStatement(sql: "SELECT TRUE FROM Receipt WHERE NOT sent LIMIT 1")) != nil
        }
    }

    private func sendWaiting() async throws {
        while let (number, body) = try await nextReport() {
            let answer = try await hub.answer(to: HubRequest(.post, Self.path, body: body))
            switch answer.status {
            case 200..<300: break
            case 408, 429: throw HubFailure.refused(status: answer.status, path: Self.path)
            // A hub of another version refuses it always. It would stand in the way of all others.
            case 400..<500: break
            default: throw HubFailure.refused(status: answer.status, path: Self.path)
            }
            try await database.db.write { db in
                try db.cachedStatement(sql: "UPDATE Receipt SET sent = TRUE WHERE report = ?").execute(arguments: [number])
            }
        }
    }

    /// The report that was not acknowledged, or a new one; `nil` if nothing waits.
    private func nextReport() async throws -> (number: Int64, body: Data)? {
        let now = clock.now
        return try await database.db.write { db in
            try db.cachedStatement(sql: "DELETE FROM Receipt WHERE NOT sent AND at < ?").execute(arguments: [
                now - Self.waitingPeriod
            ])
            guard let number = try Self.unacknowledged(db) ?? Self.begin(db) else { return nil }
            var body: JSONValue = ["installation": .string(try db.installation()), "report": .integer(number)]
            for kind in [Kind.received, .opened] {
                let keys = try String.fetchAll(
                    db.cachedStatement(sql: "SELECT msi_key FROM Receipt WHERE report = ? AND kind = ?"),
                    arguments: [number, kind.rawValue])
                body[kind.rawValue] = .array(keys.map { .string($0) })
            }
            return (number, body.data)
        }
    }

    private static func unacknowledged(_ db: Database) throws -> Int64? {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT report FROM Receipt WHERE NOT sent AND report IS NOT NULL LIMIT 1"))
    }

    /// Begins a report of what waits.
    private static func begin(_ db: Database) throws -> Int64? {
        let number = (try db.memory(lastReportMemory).flatMap(Int64.init) ?? 0) + 1
        try db.cachedStatement(
            sql: """
                UPDATE Receipt SET report = ? WHERE (msi_key, kind) IN
                    (SELECT msi_key, kind FROM Receipt WHERE NOT sent AND report IS NULL LIMIT ?)
                """
        ).execute(arguments: [number, maxPerReport])
        guard db.changesCount > 0 else { return nil }
        try db.keep(String(number), as: lastReportMemory)
        return number
    }
}

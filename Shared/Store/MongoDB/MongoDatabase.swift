import CoreMetrics
import Base
import Instruments
package import Logging
package import Schemas
import Synchronization

/// A service's access to MongoDB. Operations run on dedicated threads. While the database is unreachable, all of
/// them fail at once.
///
/// Every method throws ``MongoError`` or the body's error.
package final class MongoDatabase: Sendable {
    /// One for transactions, one for the preparation, one for the change stream.
    private static let reservedConnections = 3
    private static let maxWaiting = 10_000
    /// How long an operation waits for a thread. Its caller has given up by then; with a slow server, such operations would keep back
    /// the others, and the end of the service, for minutes.
    private static let maxWait = Duration.seconds(10)
    private static let pauseBetweenProbes = Duration.milliseconds(500)
    /// A server that does not answer a ping in this time is unreachable, even if operations may take longer.
    private static let probeTimeout = Duration.seconds(2)

    /// The collection of the small writes for the health; a document for each service.
    private static let writeCheck = "msi_write_check"

    private let url: MongoURL
    private let application: String
    private let logger: Logger
    private let pool: ConnectionPool
    private let probePool: ConnectionPool
    private let threads: BlockingThreads
    /// One thread, because concurrent transactions of one process would conflict on the same document.
    private let transactionThread = BlockingThreads(maxThreads: 1, maxWaiting: maxWaiting)
    /// Its own thread, because waiting for changes blocks.
    private let watchThread = BlockingThreads(maxThreads: 1, maxWaiting: 1)
    /// Its own thread, so that a probe never waits for hanging operations.
    private let probeThread = BlockingThreads(maxThreads: 1, maxWaiting: 1)
    private let availability = Mutex(Availability())
    private let writes = WriteHealth()
    private let overdue = SlowOperationWatch()
    private let operations = Instrument.storeOperations.timer(["store": "mongodb", "operation": "any"])
    private let prepare: @Sendable (MongoConnection) throws -> Void
    private let isPrepared = Mutex(false)

    private init(
        url: MongoURL, application: String, logger: Logger, prepare: @escaping @Sendable (MongoConnection) throws -> Void
    ) {
        self.url = url
        self.application = application
        self.logger = logger
        self.prepare = prepare
        pool = ConnectionPool(
            url: url, application: application, maxConnections: url.maxConnections + Self.reservedConnections,
            socketTimeout: url.socketTimeout, writes: writes)
        probePool = ConnectionPool(
            url: url, application: application, maxConnections: 1, socketTimeout: Self.probeTimeout, writes: writes)
        threads = BlockingThreads(maxThreads: url.maxConnections, maxWaiting: Self.maxWaiting)
    }

    /// Connects. While `msi restore` fills the database or has been interrupted, it counts as unreachable. If it is unreachable, this
    /// returns after `serverSelectionTimeoutMS` and keeps trying.
    ///
    /// - Parameters:
    ///   - application: The service's name in the server's log.
    ///   - logger: Gets one line when the database becomes unreachable, and one when it is reachable again.
    ///   - prepare: Makes indexes and the like once, before all other operations. Until it has succeeded, the database
    ///     counts as unreachable.
    package static func open(
        _ url: MongoURL, application: String, logger: Logger,
        prepare: @escaping @Sendable (MongoConnection) throws -> Void = { _ in }
    ) async -> MongoDatabase {
        MongoLibrary.start(logger: logger)
        let database = MongoDatabase(url: url, application: application, logger: logger, prepare: prepare)
        await database.probe()
        return database
    }

    /// The database's name on its servers.
    package var name: String { url.database }

    /// Runs operations one after another on one connection.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (MongoConnection) throws -> Value
    ) async throws -> Value {
        try await run(on: threads, body)
    }

    /// Runs operations as ``run(_:)`` does, for a caller that does not suspend.
    ///
    /// - Parameter whenDone: Called once: on the operations' thread, or before this returns.
    func start<Value: Sendable>(
        _ body: @escaping @Sendable (MongoConnection) throws -> Value,
        whenDone: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        start(on: threads, body, whenDone: whenDone)
    }

    /// Runs operations in a transaction with snapshot isolation. It needs a replica set. Transactions of one process run one
    /// after another.
    ///
    /// - Parameter body: May run more than once. An error that it throws aborts the transaction.
    package func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (MongoConnection) throws -> Value
    ) async throws -> Value {
        try await run(on: transactionThread) { try $0.transaction(body) }
    }

    /// Reads several documents from one snapshot, concurrently with other operations. It needs a replica set.
    package func snapshot<Value: Sendable>(
        _ body: @escaping @Sendable (MongoConnection) throws -> Value
    ) async throws -> Value {
        try await run(on: threads) { try $0.transaction(body) }
    }

    /// Runs long operations, such as waiting for a ``ChangeStream``, concurrently with all others. Their duration does
    /// not start a probe.
    package func watch<Value: Sendable>(
        _ body: @escaping @Sendable (MongoConnection) throws -> Value
    ) async throws -> Value {
        try await run(on: watchThread, mayTakeLong: true, body)
    }

    /// As ``CheckedStore/writeHealth()``. A server that does not answer is away after a timeout, and never hangs.
    package func writeHealth() async -> PartHealth {
        await writes.current {
            // The connection reports the outcome.
            try? await self.run { [application = self.application] connection in
                _ = try connection.update(
                    ["_id": .string(application)], ["$set": ["time": UnixMilliseconds.now.bson]], in: Self.writeCheck,
                    options: ["upsert": true])
            }
        }
    }

    /// Waits for running operations, and closes all connections. Do not use it afterwards.
    package func close() async {
        await threads.close()
        await transactionThread.close()
        await watchThread.close()
        await probeThread.close()
        // libmongoc takes half a second to end its own threads.
        let lastThreads = BlockingThreads(maxThreads: 2, maxWaiting: 2)
        for pool in [pool, probePool] {
            if !lastThreads.submit({ pool.close() }) { pool.close() }
        }
        await lastThreads.close()
    }

    private func run<Value: Sendable>(
        on threads: BlockingThreads, mayTakeLong: Bool = false,
        _ body: @escaping @Sendable (MongoConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            start(on: threads, mayTakeLong: mayTakeLong, body) { continuation.resume(with: $0) }
        }
    }

    private func start<Value: Sendable>(
        on threads: BlockingThreads, mayTakeLong: Bool = false,
        _ body: @escaping @Sendable (MongoConnection) throws -> Value,
        whenDone: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let ticket: Availability.Ticket
        do {
            ticket = try availability.withLock { try $0.admit() }
        } catch {
            return whenDone(.failure(error))
        }
        let start = ContinuousClock.now
        let isAccepted = threads.submit {
            let outcome = Result {
                guard start.duration(to: .now) < Self.maxWait else {
                    throw MongoError(.overloaded, "the operations before it took \(Self.maxWait)")
                }
                return try self.perform(ticket, mayTakeLong: mayTakeLong, body)
            }
            if !mayTakeLong { self.operations.record(since: start) }
            whenDone(outcome)
        }
        if !isAccepted {
            whenDone(.failure(MongoError(.overloaded, "\(Self.maxWaiting) operations wait already")))
        }
    }

    /// Runs on one of the threads.
    private func perform<Value>(
        _ ticket: Availability.Ticket, mayTakeLong: Bool, _ body: (MongoConnection) throws -> Value
    ) throws -> Value {
        // The database may have become unreachable while the operation waited for a thread.
        _ = try availability.withLock { try $0.admit() }
        do {
            guard !mayTakeLong else { return try pool.withConnection(body) }
            return try overdue.watch(doubt: doubt) { try pool.withConnection(body) }
        } catch let error as MongoError {
            act(on: availability.withLock { $0.failed(error, ticket) })
            throw error
        }
    }

    // MARK: Availability

    @Sendable private func doubt() {
        act(on: availability.withLock { $0.slowOperation() })
    }

    private func act(on actions: [Availability.Action]) {
        for action in actions {
            switch action {
            case .announceOutage(let error):
                logger.warning("the database is away", metadata: ["database": "\(url)", "error": "\(error)"])
            case .announceRecovery:
                logger.notice("the database is back", metadata: ["database": "\(url)"])
            case .probe(let afterPause):
                Task {
                    if afterPause { try await Task.sleep(for: Self.pauseBetweenProbes) }
                    await probe()
                }
            }
        }
    }

    private func probe() async {
        let outcome: Result<Void, any Error>? = await withCheckedContinuation { continuation in
            let isAccepted = probeThread.submit {
                continuation.resume(returning: Result { try self.tryOut() })
            }
            // The database is being closed.
            if !isAccepted { continuation.resume(returning: nil) }
        }
        switch outcome {
        case nil: break
        case .success: act(on: availability.withLock { $0.probed(nil) })
        case .failure(let error):
            let reason = error as? MongoError ?? MongoError(.other, "\(error)")
            act(on: availability.withLock { $0.probed(reason) })
        }
    }

    private func tryOut() throws {
        try isPrepared.withLock { isPrepared in
            try probePool.withConnection { connection in
                try connection.ping()
                // During an outage a restore may have begun.
                let isAway = availability.withLock(\.isAway)
                if isAway || !isPrepared, !url.isOfRestore { try connection.requireNoUnfinishedRestore() }
            }
            if !isPrepared { try pool.withConnection(prepare) }
            isPrepared = true
        }
    }
}

import Bus
import Base
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

/// The gateway's copies of all valid credentials. They are listed at the start, and requested again when they change.
///
/// A request does not wait for the people service if a copy can be used, even while the service is down.
final class Credentials: Service {
    /// How long a request that finds no copy waits for the service.
    static let findTimeout: Duration = .seconds(2)
    /// How long a request waits for the service if it does not need a credential, or if a copy exists.
    static let shortTimeout: Duration = .milliseconds(200)
    /// How long the service is silent before it is asked for its changes. It announces them every second.
    private static let silence: Duration = .milliseconds(1_200)
    /// The time between a failed attempt and the next one.
    private static let retryInterval: Duration = .milliseconds(300)
    /// How often it is checked whether credentials must be listed or sign-outs repeated.
    private static let checkInterval: Duration = .seconds(1)
    private static let reportInterval: Duration = .seconds(20)

    let people: CommandClient
    private let subscriber: EventSubscriber
    let logger: Logger
    let cache: Mutex<CredentialCache>
    let uses = Mutex(CredentialUses())
    let signOuts = Mutex(PendingSignOuts())
    /// Writes the copies durably; `nil` for a gateway without a file.
    let keep = Mutex<(@Sendable () async throws -> Void)?>(nil)
    private let requested = Mutex<[CredentialHash: Task<Result<Credential?, CommandFailure>, Never>]>([:])
    /// Limits the concurrent lookups, since anyone can invent credentials.
    private let lookups = FairSemaphore(
        maxRunning: 100, maxWaiting: 1_000, maxWait: Credentials.findTimeout,
        refusal: "too many unknown credentials are being checked; try again later")
    private let reading = Mutex<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - endpoints: The event sockets of the people service.
    ///   - grace: How long copies may be used while the service is silent.
    /// - Throws: ``BusError`` if an endpoint is invalid, or the bus is closed.
    init(people: CommandClient, bus: Bus, endpoints: [String], grace: Duration, logger: Logger) throws(BusError) {
        self.people = people
        subscriber = try EventSubscriber(bus: bus, endpoints: endpoints, names: [PeopleChanged.name], logger: logger)
        self.logger = logger
        cache = Mutex(CredentialCache(grace: grace))
    }

    /// What the copies say about a credential.
    func copy(of hash: CredentialHash) -> CredentialCache.Lookup {
        cache.withLock { $0.find(hash, at: .now, wall: .now) }
    }

    /// The credential with this hash; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait for the people service.
    ///   - client: The address of the client that shows the credential; `nil` for the gateway's own purposes.
    ///   - willAsk: Called before the people service is asked for this credential. An error of it is thrown instead.
    /// - Throws: ``CommandFailure`` if there is no usable copy and the people service does not answer.
    func find(
        _ hash: CredentialHash, within timeout: Duration = Credentials.findTimeout, for client: IPAddress? = nil,
        willAsk: () throws -> Void = {}
    ) async throws -> Credential? {
        // A known one needs no confirmation.
        if case .known(let credential) = copy(of: hash) { return credential }
        if cache.withLock({ $0.mustConfirm(at: .now) }) { await confirm() }
        switch copy(of: hash) {
        case .known(let credential): return credential
        case .unknown: return nil
        case .ask:
            try willAsk()
            return try await request(hash, within: timeout, for: client)
        }
    }

    /// Waits a moment until the service has confirmed the copies. If it does not, they are used as they are.
    private func confirm() async {
        let deadline = ContinuousClock.now + Self.shortTimeout
        // A read that was already running may be from before a pause of the process. The next read is not.
        for _ in 0..<2 {
            guard await readChanges().finishes(by: deadline), cache.withLock({ $0.mustConfirm(at: .now) }) else { break }
        }
        cache.withLock { cache in
            if cache.mustConfirm(at: .now) { cache.couldNotConfirm(at: .now) }
        }
    }

    /// Waits until the people service has confirmed the copies of an earlier process, or the request for that has failed.
    func confirmRestored() async {
        if cache.withLock({ $0.confirmed }) != nil { await readChanges().value }
    }

    /// Requests a credential. Concurrent callers share one request.
    ///
    /// - Returns: `nil` if there is none.
    /// - Throws: ``CommandFailure`` if the people service does not answer.
    private func request(
        _ hash: CredentialHash, within timeout: Duration = Credentials.findTimeout, for client: IPAddress? = nil
    ) async throws(CommandFailure) -> Credential? {
        let task = requested.withLock { requested in
            if let task = requested[hash] { return task }
            let task = Task {
                let result: Result<Credential?, CommandFailure>
                do {
                    result = .success(try await self.lookups.take(for: client) { try await self.requestAlone(hash) })
                } catch {
                    result = .failure(error as? CommandFailure ?? CommandFailure(.internal, "\(error)"))
                }
                self.requested.withLock { $0[hash] = nil }
                return result
            }
            requested[hash] = task
            return task
        }
        guard timeout < Self.findTimeout else { return try await task.value.get() }
        guard await task.finishes(by: .now + timeout) else {
            throw CommandFailure(.deadlineExceeded, "the people service does not answer")
        }
        return try await task.value.get()
    }

    private func requestAlone(_ hash: CredentialHash) async throws(CommandFailure) -> Credential? {
        // An answer may be older than a change that this gateway has heard of.
        for _ in 0..<3 {
            let asked = ContinuousClock.now
            do throws(CommandFailure) {
                let credential = try await people.request(FindCredential(hash: hash), timeout: Self.findTimeout)
                let (isCurrent, hasEnded) = cache.withLock { cache in
                    (cache.add(credential, for: hash, asked: asked), cache.hasEnded(hash))
                }
                if isCurrent { return hasEnded ? nil : credential }
            } catch {
                guard error.status == .notFound else { throw error }
                cache.withLock { $0.addUnknown(hash, at: .now) }
                return nil
            }
        }
        throw CommandFailure(.unavailable, "the people service answers with old data; try again later")
    }

    /// Until when the copies may be used if the people service stays silent; `nil` if they may not be used.
    var usableUntil: ContinuousClock.Instant? { cache.withLock { $0.usableUntil(at: .now) } }
}

// MARK: - Following the people service

extension Credentials {
    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask { await self.follow() }
                group.addTask { await self.readChangesAfterSilence() }
                group.addTask {
                    await RepeatingService(every: Self.checkInterval) {
                        await self.listIfNecessary()
                        return self.cache.withLock(\.mustList) ? .after(Self.retryInterval) : .periodic
                    }.run()
                }
                group.addTask {
                    await RepeatingService(every: Self.checkInterval) {
                        await self.repeatSignOuts()
                        return self.signOuts.withLock(\.first) != nil ? .after(Self.retryInterval) : .periodic
                    }.run()
                }
                group.addTask {
                    await RepeatingService(every: Self.reportInterval) {
                        await self.reportUses()
                        return .periodic
                    }.run()
                }
            }
        }
        // In a new task, because this one may be cancelled.
        await Task {
            await self.repeatSignOuts()
            await self.reportUses()
        }.value
    }

    /// Asks the service for its changes when it has been silent.
    private func readChangesAfterSilence() async {
        await RepeatingService(every: Self.retryInterval) { [self] in
            await readChangesIfNecessary()
            return cache.withLock { cache in
                let now = ContinuousClock.now
                // This includes the time after a failed read: until a read succeeds, an ended credential seems valid.
                guard !cache.mustReadChanges(at: now, silence: Self.silence), let confirmed = cache.confirmed else {
                    return .after(Self.retryInterval)
                }
                return .after(max(Self.silence - (now - confirmed), Self.retryInterval))
            }
        }.run()
    }

    private func follow() async {
        for await event in subscriber.events {
            guard case .event(_, let payload, _) = event else { continue }
            do {
                let changes = try JSONCoder.decode(PeopleChanged.self, from: payload)
                let (changed, mustRead) = cache.withLock { $0.announced(changes, at: .now) }
                requestLater(changed)
                if mustRead { await readChanges().value }
            } catch {
                logger.warning("an event cannot be read", metadata: ["event": "\(PeopleChanged.name)", "error": "\(error)"])
            }
        }
    }

    private func readChangesIfNecessary() async {
        if cache.withLock({ $0.mustReadChanges(at: .now, silence: Self.silence) }) { await readChanges().value }
    }

    /// Reads the changes. Concurrent callers share one command.
    private func readChanges() -> Task<Void, Never> {
        reading.withLock { reading in
            if let reading { return reading }
            let task = Task {
                await self.readChangesAlone()
                self.reading.withLock { $0 = nil }
            }
            reading = task
            return task
        }
    }

    private func readChangesAlone() async {
        guard let after = cache.withLock(\.applied) else { return }
        let asked = ContinuousClock.now
        do throws(CommandFailure) {
            let changes = try await people.request(ReadPeopleChanges(after: after), timeout: .seconds(1))
            requestLater(cache.withLock { $0.read(changes, after: after, asked: asked) })
        } catch {
            // The next check tries again. Until then the copies are used as the cache decides. If the process was paused during the
            // request, it does not count as an attempt.
            if ContinuousClock.now - asked < CredentialCache.silence { cache.withLock { $0.couldNotConfirm(at: .now) } }
            logger.debug("the changes of accounts cannot be read", metadata: ["error": "\(error)"])
        }
    }

    private func requestLater(_ changed: [CredentialHash]) {
        if !changed.isEmpty { Task { await self.request(changed) } }
    }

    /// Requests changed and new credentials, so that the copies are complete when the service goes away.
    func request(_ changed: [CredentialHash]) async {
        for hash in changed {
            do throws(CommandFailure) {
                _ = try await request(hash, within: Self.findTimeout)
            } catch {
                return
            }
        }
    }
}

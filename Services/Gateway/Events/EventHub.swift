import Bus
import Base
import Logging
import NIOCore
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Follows the services while streams are open, and sends the streams what happens.
final class EventHub: Service {
    private let cube: CubeService
    private let messageEvents: EventSubscriber
    private let messageLogs: MessageLogReaders
    private let health: HealthCheck
    let access: EventAccess
    private let streams = Mutex(OpenEventStreams())
    /// The number of streams that are being opened. The services are followed for them already.
    private let opening = Mutex(0)
    private let keepAlivePeriod: Duration

    /// The time between two `alive` events. Shorter than ``ConnectionTimeouts/response``, after which a silent stream ends. The portal
    /// doubts the gateway after twice this time (`lib/events.js`).
    static let defaultKeepAlivePeriod = Duration.seconds(4)

    private static let pollPeriod = Duration.seconds(1)
    private static let healthPeriod = Duration.seconds(2)
    private static let accessPeriod = Duration.milliseconds(500)
    /// The minimum interval of looks whether there are streams now.
    private static let idlePeriod = Duration.seconds(1)

    /// - Parameter keepAlivePeriod: The time between two `alive` events.
    /// - Throws: ``ConfigurationError``, or `BusError`.
    init(
        bus: Bus, cube: CubeService, health: HealthCheck, access: EventAccess,
        keepAlivePeriod: Duration = EventHub.defaultKeepAlivePeriod,
        settings: SettingValues, logger: Logger
    ) throws {
        self.cube = cube
        self.keepAlivePeriod = keepAlivePeriod
        self.health = health
        self.access = access
        messageEvents = try EventSubscriber(
            bus: bus, endpoints: settings.value(.endpoints(of: .messageLog, .events)), names: [MessageChanged.name],
            logger: logger)
        messageLogs = MessageLogReaders(
            of: try InstanceClients(bus: bus, endpoints: settings.value(.endpoints(of: .messageLog)), logger: logger))
        cube.observe { [weak self] version in self?.streams.withLock { $0.cubeHasVersion(version) } }
    }

    // MARK: Streams

    /// Opens a stream. The caller writes the queue's bytes, and then calls ``close(_:)``.
    ///
    /// - Parameter lastEventID: The client's `Last-Event-ID`; `nil` for a new client.
    func open(
        _ queue: EventStreamQueue, with rights: StreamRights, lastEventID: String?
    ) async -> OpenEventStreams.StreamID {
        let isFirst = opening.withLock { count in
            count += 1
            return count == 1
        }
        defer { opening.withLock { $0 -= 1 } }
        if streams.withLock(\.isEmpty) {
            if isFirst { streams.withLock { $0.forgetHealth() } }
            await catchUp()
        }
        return streams.withLock { $0.open(queue, with: rights, lastEventID: lastEventID) }
    }

    func close(_ id: OpenEventStreams.StreamID) {
        streams.withLock { $0.close(id) }
    }

    private var isFollowing: Bool {
        opening.withLock { $0 > 0 } || !streams.withLock(\.isEmpty)
    }

    /// Reads what has happened while no stream was open.
    private func catchUp() async {
        await withDiscardingTaskGroup { group in
            for reader in messageLogs.all { group.addTask { await reader.read() } }
            if streams.withLock({ $0.cube == nil }) {
                group.addTask {
                    guard let version = try? await self.cube.current().version else { return }
                    self.streams.withLock { $0.cubeHasVersion(version) }
                }
            }
        }
    }

    // MARK: Following

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.followMessages() }
                group.addTask { await self.messageLogs.run(self.readMessages) }
                // In case an event was lost.
                group.addTask { await self.whileFollowing(every: Self.pollPeriod) { self.wakeReaders() } }
                group.addTask { await self.whileFollowing(every: Self.healthPeriod) { await self.checkHealth() } }
                group.addTask {
                    // A first stream may lose its rights at once.
                    await self.whileFollowing(every: Self.accessPeriod, idle: Self.accessPeriod) { await self.checkAccess() }
                }
                group.addTask {
                    await self.whileFollowing(every: self.keepAlivePeriod) { self.streams.withLock { $0.keepAlive() } }
                }
            }
        }
    }

    private func followMessages() async {
        for await event in messageEvents.events where isFollowing {
            if case .disconnected = event { continue }
            wakeReaders()
        }
    }

    private func wakeReaders() {
        for reader in messageLogs.all { reader.wake() }
    }

    /// Reads the changes of one message log, until it goes away.
    @Sendable private func readMessages(_ number: Int, _ reader: MessageLogReader) async {
        if isFollowing { reader.wake() }
        await reader.run {
            streams.withLock { $0.feed.position(of: number) }
        } _: { page in
            streams.withLock { $0.add(page, from: number) }
        }
        guard !Task.isCancelled else { return }
        streams.withLock { $0.remove(log: number) }
        // A message log that stops stores the outcomes of its last deliveries after its socket is gone. No one tells of these changes.
        guard (try? await Task.sleep(for: DeliveryTimes.outboxStopTimeout)) != nil else { return }
        streams.withLock { $0.remove(log: number) }
    }

    private func checkHealth() async {
        let health = await health.read()
        streams.withLock { $0.healthIs(health) }
    }

    /// Lets changes of rights take effect on the open streams.
    private func checkAccess() async {
        var unchecked: [StreamRights] = []
        for known in streams.withLock({ $0.rights }) {
            let rights = await access.rights(after: known)
            if case .unchecked = rights { unchecked.append(known) } else { set(rights, after: known) }
        }
        await withDiscardingTaskGroup { group in
            for known in unchecked {
                group.addTask { self.set(await self.access.requestedRights(after: known), after: known) }
            }
        }
    }

    private func set(_ rights: EventAccess.Current, after known: StreamRights) {
        switch rights {
        case .are(let rights): streams.withLock { $0.setRights(rights, of: known.principal) }
        case .ended: streams.withLock { $0.setRights(nil, of: known.principal) }
        case .unchecked: break
        }
    }

    /// Repeats an action until the task is cancelled, while there are streams.
    ///
    /// - Parameter idle: The interval of looks whether there are streams.
    private func whileFollowing(
        every period: Duration, idle: Duration = idlePeriod, _ action: @Sendable () async -> Void
    ) async {
        while (try? await Task.sleep(untilNext: isFollowing ? period : max(period, idle))) != nil {
            if isFollowing { await action() }
        }
    }
}

import FoundationEssentials
import Glibc
import Logging
import MobileApp
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Many phones in one process: each has a registration, subscriptions and an app with a database in memory. At its end the fleet
/// counts what each phone should have, and what it has.
final class Fleet: Service {
    let phones: [SimulatedPhone]
    private let unsteady: Int
    /// In seconds; 0 for until a signal.
    private let duration: Int
    private let ledger: FleetLedger
    let broadcastLedger: BroadcastLedger
    private let persons: FleetPersons
    /// Yields each broadcast once every steady phone has it.
    private let everywhere: AsyncStream<BroadcastArrival>
    private let expectedMessages: ExpectedMessages
    private let begin: Int64
    let logger: Logger
    private let state = Mutex<(isEnding: Bool, report: FleetReport?)>((false, nil))

    /// How many phones are set up at once. With more, requests would time out on a machine that also runs the hub.
    private static let maxStarting = 100
    /// After this time a phone that is not set up, such as one without a network, no longer delays others.
    private static let maxStart = Duration.seconds(5)
    /// How long the phones may catch up at the end.
    private static let catchUpTime = Duration.seconds(60)
    /// A little more than the maximum age of the hub's answers to `POST /message/since`, so that the last messages are counted.
    private static let maxAgeOfAnswers = Duration.milliseconds(750)
    /// How many phones send requests at once at the end.
    private static let maxAtOnce = 64
    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// - Parameters:
    ///   - unsteady: How many of the phones are disturbed (``disturb(_:)``).
    ///   - accounts: How many persons are signed in, each on two of the phones.
    ///   - interval: How often the apps look at the hub.
    init(
        count: Int, unsteady: Int, accounts: Int, duration: Int, interval: Duration, fcm: FCMConnection, gateway: String,
        identityEmulator: String, hub: Network, logger: Logger
    ) throws {
        let personLedger = PersonLedger(count: count)
        let ledger = FleetLedger(count: count, steady: count - unsteady)
        let broadcastLedger = BroadcastLedger(count: count, steady: count - unsteady)
        let (everywhere, everywhereContinuation) = AsyncStream<BroadcastArrival>.makeStream()
        phones = try (0..<count).map { index in
            try SimulatedPhone(
                name: "phone-\(index)", memory: PhoneMemory(), fcm: fcm, gateway: gateway, hub: hub, interval: interval,
                logger: logger,
                arrived: { message in
                    let now = Self.now
                    guard ledger.note(message, on: index, isSteady: index >= unsteady, now: now) else { return }
                    logger.info(
                        "every phone has it",
                        metadata: ["msi_key": "\(message.msiKey)", "ms": "\(now - message.timestamp)"])
                },
                recalled: { message in ledger.noteRecalled(message, on: index) },
                pushed: { message in
                    guard let key = message.data["msi_key"], ledger.notePushed(key, on: index, isSteady: index >= unsteady)
                    else { return }
                    logger.info("every phone that had it has FCM's copy", metadata: ["msi_key": "\(key)"])
                },
                broadcastArrived: { arrival in
                    guard broadcastLedger.note(arrival, on: index, isSteady: index >= unsteady) else { return }
                    everywhereContinuation.yield(arrival)
                },
                poppedUp: { personLedger.note($0, on: index) })
        }
        persons = FleetPersons(
            count: accounts, of: phones, personLedger, identityEmulator: identityEmulator, network: hub, logger: logger)
        self.broadcastLedger = broadcastLedger
        self.everywhere = everywhere
        self.unsteady = unsteady
        self.duration = duration
        self.ledger = ledger
        self.logger = logger
        expectedMessages = ExpectedMessages(gateway: gateway, hub: hub)
        begin = Self.now
    }

    /// What the phones have received; `nil` before the end.
    var report: FleetReport? { state.withLock(\.report) }

    /// Returns once each steady phone has its subscriptions, and the persons are signed in.
    func whenReady() async throws {
        var waiting = Array(phones[unsteady...])
        while !waiting.isEmpty {
            var notReady: [SimulatedPhone] = []
            for phone in waiting where try await !phone.app.isInitialized() { notReady.append(phone) }
            waiting = notReady
            if !waiting.isEmpty { try await Task.sleep(for: .milliseconds(200)) }
        }
        while !persons.areSignedIn { try await Task.sleep(for: .milliseconds(200)) }
        ledger.isReady(at: Self.now)
    }

    /// Runs the phones until the time is over or the process is to stop, and counts.
    ///
    /// - Throws: An error if the hub cannot be asked at the end what the phones should have.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in await startAll() }
            group.addTask { [self] in try await followBroadcasts() }
            group.addTask { [persons] in await persons.run() }
            try? await cancelWhenGracefulShutdown { [duration] in
                repeat { try await Task.sleep(for: .seconds(duration > 0 ? duration : 86_400)) } while duration == 0
            }
            state.withLock { $0.isEnding = true }
            persons.end()
            try await Task.sleep(for: Self.maxAgeOfAnswers)
            let report = try await catchUp()
            try await logBroadcasts()
            // With these lines others can count without relying on the hub, which `expected` does.
            for (key, phones) in ledger.phones.sorted(by: { $0.key < $1.key }) {
                logger.info("received", metadata: ["msi_key": "\(key)", "phones": "\(phones)"])
            }
            for (key, phones) in ledger.recalled.sorted(by: { $0.key < $1.key }) {
                logger.info("recalled", metadata: ["msi_key": "\(key)", "phones": "\(phones)"])
            }
            state.withLock { $0.report = report }
            group.cancelAll()
        }
    }

    /// Logs when a broadcast is on every steady phone, with the features that are on then.
    private func followBroadcasts() async throws {
        for await arrival in everywhere {
            logger.info(
                "every phone has the broadcast", metadata: ["broadcast": "\(arrival.id)", "version": "\(arrival.version)"])
            try await logFeatures("feature of steady phones", from: unsteady)
        }
    }

    // MARK: The phones

    /// Starts the phones, and runs them until the task is cancelled.
    private func startAll() async {
        let (turns, turn) = AsyncStream<Void>.makeStream()
        for _ in 0..<Self.maxStarting { turn.yield() }
        await withTaskGroup { [self] group in
            var next = phones.indices.makeIterator()
            for await _ in turns {
                guard let index = next.next() else { break }
                let isLate = index < unsteady && index % 3 == 2
                group.addTask {
                    if isLate { try? await Task.sleep(for: .seconds(Double.random(in: 5...15))) }
                    guard !Task.isCancelled else { return }
                    await self.run(index, isLate: isLate)
                }
                group.addTask {
                    if !isLate { await self.waitForStart(of: index) }
                    turn.yield()
                }
            }
        }
    }

    private func waitForStart(of index: Int) async {
        let deadline = ContinuousClock.now + Self.maxStart
        while ContinuousClock.now < deadline, !Task.isCancelled {
            if (try? await phones[index].app.isInitialized()) == true { return }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    private func run(_ index: Int, isLate: Bool) async {
        await withTaskGroup { [self] group in
            group.addTask { await self.phones[index].stayOn() }
            if index < unsteady, !isLate { group.addTask { await self.disturb(index) } }
        }
    }

    /// Repeatedly takes the phone offline or kills its app for a few seconds.
    private func disturb(_ index: Int) async {
        let phone = phones[index]
        while !state.withLock(\.isEnding) {
            for isOff in [true, false] {
                try? await Task.sleep(for: .seconds(Double.random(in: 2...6)))
                if state.withLock(\.isEnding) || Task.isCancelled { return }
                set(phone, index % 3 == 0 ? .init(offline: isOff) : .init(killed: isOff))
            }
        }
    }

    private func set(_ phone: SimulatedPhone, _ change: PhoneControl.Change) {
        do {
            _ = try phone.change(change)
        } catch {
            logger.error("a phone cannot be changed", metadata: ["phone": "\(phone.name)", "error": "\(error)"])
        }
    }

    // MARK: The count

    /// Switches all phones on, and counts until nothing is missing or the time is over.
    private func catchUp() async throws -> FleetReport {
        let deadline = ContinuousClock.now + Self.catchUpTime
        while true {
            for phone in phones where phone.memory.system.control.offline || phone.memory.system.control.killed {
                set(phone, .init(offline: false, killed: false))
            }
            do {
                let (report, behind) = try await count()
                if behind.isEmpty, persons.areDone {
                    // A phone that was offline asks for broadcasts, too.
                    if !broadcastLedger.isEmpty { try await forEachPhone { try await $0.app.look() } }
                    try await forEachPhone { try await $0.app.receipts.send() }
                    return report
                }
                guard ContinuousClock.now < deadline else {
                    logger.warning(
                        "phones have not caught up",
                        metadata: ["phones": "\(behind.count)", "persons": "\(persons.areDone ? "done" : "waiting")"])
                    return report
                }
                for phone in behind { phone.app.refresh() }
            } catch {
                guard ContinuousClock.now < deadline else { throw error }
                logger.warning("the fleet cannot count yet", metadata: ["error": "\(error)"])
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Calls `body` for each phone, ``maxAtOnce`` at a time.
    private func forEachPhone(_ body: @escaping @Sendable (SimulatedPhone) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, phone) in phones.enumerated() {
                if index >= Self.maxAtOnce { try await group.next() }
                group.addTask { try await body(phone) }
            }
            try await group.waitForAll()
        }
    }

    /// - Returns: The report, and the phones that miss something, still have something that was recalled, or are not set up.
    private func count() async throws -> (FleetReport, behind: [SimulatedPhone]) {
        var topics: [Set<String>] = []
        for phone in phones {
            let subjects = try await phone.app.isInitialized() ? phone.app.subscriptions.all() : []
            topics.append(Set(subjects.filter(\.isSubscribed).map(\.id)))
        }
        let (messages, recalled) = try await expectedMessages.read(topics.reduce(into: []) { $0.formUnion($1) }, since: begin)
        var (expected, delivered, doubled) = (0, 0, 0)
        var behind: [SimulatedPhone] = []
        for (index, phone) in phones.enumerated() {
            let received = ledger.received(on: index)
            let wanted = topics[index].reduce(into: Set<String>()) { $0.formUnion(messages[$1] ?? []) }
            let present = wanted.count { received[$0] != nil }
            expected += wanted.count
            delivered += present
            doubled += received.values.reduce(0) { $0 + $1 - 1 }
            let isRecallMissing = recalled.contains { received[$0] != nil && !ledger.hasRecalled($0, on: index) }
            if present < wanted.count || isRecallMissing {
                behind.append(phone)
            } else if try await !phone.app.isInitialized() {
                behind.append(phone)
            }
        }
        let report = FleetReport(
            phones: phones.count, expected: expected, delivered: delivered, doubled: doubled, missing: expected - delivered,
            p50: ledger.latency(50), p99: ledger.latency(99), max: ledger.latency(100), persons: persons.report)
        return (report, behind)
    }
}

extension ServicePlan {
    /// Descriptors in addition to the phones' connections to FCM: connections to the gateway, files, and those of any process.
    private static let otherDescriptors = 512

    /// Wires a fleet together.
    ///
    /// - Throws: ``ConfigurationError``, for example if the process may not open a connection for each phone.
    static func fleet(_ wiring: Wiring) async throws -> ServicePlan {
        let settings = wiring.settings
        let count = try settings.value(.fleetCount)
        let accounts = try settings.value(.fleetAccounts)
        try checkDescriptors(count)
        guard accounts * FleetPersons.phonesPerPerson <= count else {
            throw ConfigurationError(
                "\(Setting.fleetAccounts.declaration.name): \(accounts) accounts have two phones each, and there are \(count)")
        }
        let gateway = try settings.optional(.gatewayURL) ?? "http://127.0.0.1:\(settings.value(.gatewayPort))"
        let emulator = EmulatorAccess(
            port: try settings.value(.fcmEmulatorPort), stateDirectory: try settings.value(.stateDirectory))
        // A stream for each phone, and the phones' requests.
        let (fcm, hub) = (Network(trusting: emulator.certificateFile, connections: count + 64), Network(connections: 64))
        let fleet = try Fleet(
            count: count, unsteady: min(count, try settings.value(.fleetUnsteady)), accounts: accounts,
            duration: try settings.value(.fleetSeconds), interval: .seconds(try settings.value(.fleetInterval)),
            fcm: FCMConnection(url: emulator.url, network: fcm), gateway: gateway,
            identityEmulator: IdentityEmulatorAccess(port: try settings.value(.identityEmulatorPort)).url, hub: hub,
            logger: wiring.logger)
        return ServicePlan(
            services: [fleet], endsByItself: true,
            close: {
                try await fcm.close()
                try await hub.close()
                // The report is the last line: nothing is printed after it.
                if let report = fleet.report { print(try report.line) }
            },
            whenReady: { try await fleet.whenReady() })
    }

    private static func checkDescriptors(_ count: Int) throws {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        guard limit.rlim_cur < rlim_t(count + otherDescriptors) else { return }
        throw ConfigurationError(
            "\(Setting.fleetCount.declaration.name): \(count) phones need \(count + otherDescriptors) open files, and the system "
                + "allows \(limit.rlim_cur) (ulimit -n)")
    }
}

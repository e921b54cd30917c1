import Bus
import FoundationEssentials
import Base
import TestSupport

/// One run: the relay under load and the emulator with changing faults, until FCM has every message.
struct Experiment: Sendable {
    let length: Duration
    let rate: Double
    let seed: UInt64
    /// The state directory, which exists and is empty.
    let folder: String
    let journal: Journal

    /// The duration of one fault phase.
    private static let phaseDuration = Duration.seconds(3)
    private static let samplingPeriod = Duration.milliseconds(500)
    /// How long the last messages may take without faults.
    private static let drainTimeout = Duration.seconds(120)
    private static let restTimeout = Duration.seconds(60)

    /// - Throws: An error that prevents a verdict, such as a process that cannot be started.
    func run() async throws -> Verdict {
        let emulator = try await RestartableEmulator(in: folder)
        let relay: ServiceProcess
        do {
            relay = try await ServiceProcess(
                "msi-fcm-relay", in: folder,
                settings: [
                    "MSI_FCM_ENDPOINT": emulator.url, "MSI_FCM_RAMP": "0",
                    "MSI_FCM_SERVICE_ACCOUNT_FILE": emulator.folder + "/service-account.json",
                    "MSI_FCM_CA_FILE": emulator.folder + "/ca.pem",
                ])
        } catch {
            await emulator.end()
            throw error
        }
        return try await perform {
            try await run(relay, emulator)
        } finally: {
            // Also when the task is cancelled.
            await Task {
                await relay.kill()
                await emulator.end()
            }.value
        }
    }

    private func run(_ relay: ServiceProcess, _ emulator: RestartableEmulator) async throws -> Verdict {
        try await withBus { bus in
            let client = try CommandClient(
                bus: bus, endpoints: ["ipc://\(folder)/run/fcm-relay.sock"], logger: quietLogger)
            let load = RetryingLoad(client: client, rate: rate, seed: seed)
            // The relay keeps resources for its maximum load. That is not growth, so the maximum load comes first.
            try await emulator.put(.hold, seed: 0)
            await load.flood()
            journal.say("warm: \(try ProcessUsage(of: relay.identifier))")
            let before = try await idleFigures(of: relay, emulator, load)
            let usage = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await load.run() }
                let watch = UsageWatch(relay.identifier, every: Self.samplingPeriod)
                group.addTask { try await watch.run() }
                try await changeFaults(emulator, load, watch)
                let record = watch.record
                load.stop()
                try await emulator.put(.faultless, seed: 0)
                journal.say("no more faults; \(load.totals.open) messages are still to be accepted")
                await load.settled(within: Self.drainTimeout)
                group.cancelAll()
                return record
            }
            let after = try await idleFigures(of: relay, emulator, load, atMost: before)
            var verdict = Verdict(
                totals: load.totals, counts: try await emulator.counts(), usage: usage, before: before, after: after)
            verdict.problems += emulator.problems
            if !relay.isRunning { verdict.problems.append("the relay ended by itself, see \(relay.logFile)") }
            let status = await relay.stop()
            if status != 0 { verdict.problems.append("the relay ended with status \(status), see \(relay.logFile)") }
            return verdict
        }
    }

    /// Changes the faults until the time is over.
    private func changeFaults(_ emulator: RestartableEmulator, _ load: RetryingLoad, _ watch: UsageWatch) async throws {
        let end = ContinuousClock.now + length
        var phases = FaultPhaseSequence(seed: seed)
        while ContinuousClock.now < end {
            let (phase, seed) = phases.next()
            let change = ContinuousClock.now
            try await emulator.put(phase, seed: seed)
            try await Task.sleep(until: min(end, change + Self.phaseDuration), clock: .continuous)
            let usage = watch.record.last.map(String.init(describing:)) ?? ""
            journal.say("\(phase.name): \(load.totals), \(usage)")
        }
    }

    /// The relay's resources at rest with a restarted emulator, in the journal as well.
    private func idleFigures(
        of relay: ServiceProcess, _ emulator: RestartableEmulator, _ load: RetryingLoad, atMost limit: ProcessUsage? = nil
    ) async throws -> ProcessUsage {
        try await emulator.put(.faultless, seed: 0)
        // This ends all connections.
        try await emulator.restart(by: .stop, away: .zero)
        let figures = try await figuresAtRest(of: relay, load, atMost: limit)
        journal.say("at rest: \(figures): \(try OpenDescriptors(of: relay.identifier))")
        return figures
    }

    /// The relay's resources at rest, including its connection to FCM. It sends single messages, which need only one connection
    /// and let the relay notice closed ones.
    ///
    /// - Parameter limit: The figures to wait for. If they are not reached in time, the current figures are returned.
    private func figuresAtRest(
        of relay: ServiceProcess, _ load: RetryingLoad, atMost limit: ProcessUsage? = nil
    ) async throws -> ProcessUsage {
        let deadline = ContinuousClock.now + Self.restTimeout
        var last: ProcessUsage?
        while true {
            for _ in 0..<3 { await load.sendOne() }
            try await Task.sleep(for: .seconds(1.2))
            let usage = try Self.usage(of: relay)
            let isSteady = last.map { $0.descriptors == usage.descriptors && $0.threads == usage.threads } ?? false
            let isLow = limit.map { usage.descriptors <= $0.descriptors && usage.threads <= $0.threads } ?? true
            if isSteady && isLow || ContinuousClock.now >= deadline { return usage }
            last = usage
        }
    }

    private static func usage(of relay: ServiceProcess) throws -> ProcessUsage {
        let usage = try ProcessUsage(of: relay.identifier)
        let descriptors = try OpenDescriptors(of: relay.identifier).countWithoutTimers
        return ProcessUsage(descriptors: descriptors, threads: usage.threads, resident: usage.resident)
    }
}

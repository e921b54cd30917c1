import FoundationEssentials
import Schemas
import ServiceKit
import ServiceLifecycle
import Base

/// Starts the processes of a stack, each when its dependencies are ready, restarts them when they end, and stops them one after
/// another in reverse order.
struct Supervisor: Service {
    private static let startTimeout = Duration.seconds(60)

    private let stack: Stack
    private let children: [Child]
    private let phone: Child?
    private let pipe: SupervisionPipe
    private let firstStart: FirstStart
    private let say: @Sendable (String) -> Void

    /// - Parameters:
    ///   - isTerminal: Whether the lines go to a terminal.
    ///   - say: Writes a line.
    init(stack: Stack, isTerminal: Bool, say: @escaping @Sendable (String) -> Void) throws {
        self.stack = stack
        self.say = say
        firstStart = FirstStart(stateDirectory: stack.stateDirectory, isTerminal: isTerminal, say: say)
        let pipe = try SupervisionPipe()
        self.pipe = pipe
        children = try stack.processes.map { try Child($0, in: stack, pipe: pipe, say: say) }
        phone = try stack.phone.map { try Child($0, in: stack, pipe: pipe, say: say) }
    }

    /// Makes every process read its settings again, and prints the outcomes.
    func reload() async {
        for line in await Reload(children: all.filter(\.isRunning)).run() { say(line) }
    }

    private var all: [Child] { children + (phone.map { [$0] } ?? []) }

    /// - Throws: ``StartFailure`` if a process does not start. The running ones are stopped first.
    func run() async throws {
        let failure = await withTaskGroup(returning: (any Error)?.self) { group in
            group.addTask { await keepLogsShort() }
            var failure: (any Error)?
            do {
                try await PreviousStack(logs: all.map(\.log), say: say).end(within: DeliveryTimes.supervisorStopTimeout)
                try await start { child in group.addTask { await child.run() } }
                if let failure = try await cancelWhenGracefulShutdown({ try await makeAccounts() }) {
                    group.addTask { await makeAccountsLater(after: failure) }
                }
                var hasPhone = false
                if let phone {
                    group.addTask { await phone.run() }
                    hasPhone = try await hasStarted(phone)
                }
                say(stack.greeting(hasPhone: hasPhone))
                try await gracefulShutdown()
            } catch is CancellationError {
                // Stopped while it was starting.
            } catch {
                failure = error
            }
            await stop()
            group.cancelAll()
            return failure
        }
        try pipe.close()
        if let failure { throw failure }
    }

    /// Starts every child, and returns once all of them are ready.
    ///
    /// - Parameter run: Starts a child.
    /// - Throws: ``StartFailure`` as soon as a child does not start.
    private func start(_ run: (Child) -> Void) async throws {
        var order = StartOrder(children.map(\.service))
        try await withThrowingTaskGroup(of: ServiceEntry.self) { group in
            func startNext() {
                let services = order.next()
                for child in children where services.contains(child.service) {
                    run(child)
                    group.addTask {
                        try await started(child)
                        return child.service
                    }
                }
            }
            startNext()
            while let service = try await group.next() {
                order.markReady(service)
                startNext()
            }
        }
    }

    /// The hub runs without a phone, too.
    private func hasStarted(_ phone: Child) async throws -> Bool {
        do {
            try await started(phone)
            return true
        } catch let failure as StartFailure {
            say("\(failure)")
            return false
        }
    }

    /// Makes the first account if there is none.
    ///
    /// - Returns: Why that is not possible now, for example because the database is unreachable or the disk is full; `nil` if there
    ///   are accounts.
    /// - Throws: ``StartFailure``.
    private func makeAccounts() async throws -> CommandFailure? {
        do {
            try await PeopleClient.with([stack.peopleEndpoint], stack.settings) { try await firstStart.run($0) }
            return nil
        } catch let failure as CommandFailure {
            try Task.checkCancellation()
            return failure
        }
    }

    /// Tries again each second, and says each new reason why it is not possible.
    private func makeAccountsLater(after failure: CommandFailure) async {
        do {
            try await cancelWhenGracefulShutdown {
                var failure: CommandFailure? = failure
                var said: String?
                while let message = failure?.message {
                    if message != said {
                        say(
                            "the accounts cannot be read or made yet: \(message); see "
                                + "\(stack.logDirectory)/\(ServiceEntry.people.executable).log")
                    }
                    said = message
                    try await Task.sleep(for: .seconds(1))
                    failure = try await makeAccounts()
                }
            }
        } catch is CancellationError {
            // The stack stops.
        } catch {
            say("\(error)")
        }
    }

    private func started(_ child: Child) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await cancelWhenGracefulShutdown { try await child.whenReady() } }
            group.addTask {
                try await Task.sleep(for: Self.startTimeout)
                throw StartFailure(
                    description: "\(child.name) is not up after \(Self.startTimeout.formatted); its log: \(child.log.path)")
            }
            try await group.next()
            group.cancelAll()
        }
    }

    private func stop() async {
        say("stopping")
        // A child that stops early may wait for one that a signal has stopped.
        for child in all { child.resume() }
        for child in all.reversed() {
            await child.stop()
        }
        say("stopped")
    }

    private func keepLogsShort() async {
        while (try? await cancelWhenGracefulShutdown({ try await Task.sleep(for: .seconds(60)) })) != nil {
            for child in all {
                do {
                    try child.log.trim()
                } catch {
                    say("\(child.log.path) cannot be kept short: \(error)")
                }
            }
        }
    }
}

extension Duration {
    /// The duration as text: `0.1 s`.
    var formatted: String {
        let milliseconds = Milliseconds(self).rawValue
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(Double(milliseconds) / 1_000) s"
    }
}

/// Decides which services to start next. Pure: ready services in, services to start out. Independent services start concurrently.
struct StartOrder: Sendable {
    private var waiting: [ServiceEntry]
    private var ready: Set<ServiceEntry> = []

    /// - Parameter services: The services. They do not wait for dependencies that are not among them, because those are switched off.
    init(_ services: [ServiceEntry]) {
        waiting = services
        ready = Set(ServiceEntry.all).subtracting(services)
    }

    /// - Returns: The services that can be started now. Each service is returned once.
    mutating func next() -> [ServiceEntry] {
        let startable = waiting.filter { $0.startDependencies.allSatisfy(ready.contains) }
        waiting.removeAll(where: startable.contains)
        return startable
    }

    mutating func markReady(_ service: ServiceEntry) {
        ready.insert(service)
    }
}

/// One reload of all children, and their reports. Each checks the new settings, and keeps the old ones if those have a mistake.
struct Reload {
    private static let timeout = Duration.seconds(10)

    let children: [Child]

    /// - Returns: The lines for the terminal; none if the task is cancelled.
    func run() async -> [String] {
        guard !children.isEmpty else { return [] }
        let (reports, continuation) = AsyncStream.makeStream(of: (name: String, report: ReloadReport).self)
        for child in children { child.reload { continuation.yield((child.name, $0)) } }
        let timer = Task {
            // Cancelled, it ends at once.
            try? await Task.sleep(for: Self.timeout)
            continuation.finish()
        }
        var answers: [String: ReloadReport] = [:]
        for await (name, report) in reports {
            answers[name] = report
            if answers.count == children.count { break }
        }
        timer.cancel()
        return Task.isCancelled ? [] : Self.lines(answers, of: children.map(\.name))
    }

    /// The lines about a reload.
    ///
    /// - Parameters:
    ///   - answers: By the names of the services.
    ///   - names: Of all services, in the order of their start.
    static func lines(_ answers: [String: ReloadReport], of names: [String]) -> [String] {
        let said = grouped(answers.mapValues(\.lines), of: names)
        let silent = names.filter { answers[$0] == nil }.map { "  \($0) has not said yet what has changed; see its log" }
        let refused = names.filter { answers[$0]?.isRefused == true }
        let headline =
            switch refused.count {
            case 0: "the settings were read again" + (said.isEmpty && silent.isEmpty ? ": nothing has changed" : "")
            case names.count: "the settings have a mistake: nothing has changed"
            default: "the settings were read again, but not by \(refused.joined(separator: ", "))"
            }
        return [headline] + said + silent
    }

    /// Each line once, with the services that have said it.
    private static func grouped(_ said: [String: [String]], of names: [String]) -> [String] {
        var lines: [String] = []
        var services: [String: [String]] = [:]
        for name in names {
            for line in said[name] ?? [] {
                if services[line] == nil { lines.append(line) }
                services[line, default: []].append(name)
            }
        }
        return lines.map { line in
            let named = services[line] ?? []
            return "  \(line) (\(named.count == names.count ? "every service" : named.joined(separator: ", ")))"
        }
    }
}

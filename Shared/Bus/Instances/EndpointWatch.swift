import CZeroMQ
import Base
import Logging
import Synchronization

/// Looks for the instances of all patterns of a bus, twice a second, on its own thread.
///
/// It scans the folders instead of using inotify, which does not work on every file system, or for a folder that does not exist yet. A
/// scan takes some microseconds.
final class EndpointWatch: Sendable {
    typealias ID = Int

    private struct Registration {
        let endpoints: ClientEndpoints
        /// The instances that the client knows.
        var known: [String]
        let changed: @Sendable ([String]) -> Bool
    }

    private struct State {
        var registrations: [ID: Registration] = [:]
        var lastID = 0
        var life = Life.idle
    }

    private enum Life {
        case idle, running, closed
    }

    private let logger: Logger
    private let state = Mutex(State())
    /// Ends the thread.
    private let end: WakeUp

    private static let period = Duration.milliseconds(500)

    /// - Throws: ``BusError`` if the system has no descriptor left.
    init(logger: Logger) throws(BusError) {
        self.logger = logger
        end = try WakeUp.forBus()
    }

    /// The instances that are there now, for a client that is about to be made.
    static func instances(of endpoints: ClientEndpoints) -> [String] {
        endpoints.instances { pattern in
            var found = FoundEndpoints()
            // The watch logs the failure.
            found.update((try? pattern.scan()) ?? [])
            return found.endpoints
        }
    }

    /// Begins to watch. Has no effect without patterns.
    ///
    /// - Parameters:
    ///   - known: The instances that the client knows.
    ///   - changed: Takes all instances after a change, on the watch's thread. If it returns `false`, it is called again.
    /// - Throws: ``BusError`` if the system cannot start the thread.
    func add(
        _ endpoints: ClientEndpoints, known: [String], changed: @escaping @Sendable ([String]) -> Bool
    ) throws(BusError) -> ID {
        let (id, isFirst) = state.withLock { state in
            state.lastID += 1
            guard !endpoints.patterns.isEmpty, state.life != .closed else { return (state.lastID, false) }
            state.registrations[state.lastID] = Registration(endpoints: endpoints, known: known, changed: changed)
            defer { state.life = .running }
            return (state.lastID, state.life == .idle)
        }
        if isFirst {
            do {
                try DedicatedThread.start { self.run() }
            } catch {
                state.withLock { state in
                    state.registrations[id] = nil
                    if state.life == .running { state.life = .idle }
                }
                throw BusError(.system, "cannot watch for instances: \(error)")
            }
        }
        return id
    }

    /// Ends what ``add(_:known:changed:)`` has begun. A call of `changed` that is under way still ends.
    func remove(_ id: ID) {
        state.withLock { $0.registrations[id] = nil }
    }

    /// Ends the thread.
    func close() {
        let isFirst = state.withLock { state in
            state.registrations = [:]
            defer { state.life = .closed }
            return state.life != .closed
        }
        if isFirst { end.signal() }
    }

    private func run() {
        msi_name_thread("msi-instances")
        var found: [EndpointPattern: FoundEndpoints] = [:]
        var problems: [EndpointPattern: String] = [:]
        while !end.wait(for: Self.period) {
            let registrations = state.withLock(\.registrations)
            for pattern in Set(registrations.values.flatMap(\.endpoints.patterns)) {
                let problem = Self.scan(pattern, &found[pattern, default: FoundEndpoints()])
                if let problem, problem != problems[pattern] {
                    logger.warning(
                        "a pattern of endpoints has a problem",
                        metadata: ["endpoint": "\(pattern.text)", "problem": "\(problem)"])
                }
                problems[pattern] = problem
            }
            for (id, registration) in registrations {
                let current = registration.endpoints.instances { found[$0]?.endpoints ?? [] }
                guard current != registration.known, registration.changed(current) else { continue }
                state.withLock { $0.registrations[id]?.known = current }
            }
        }
    }

    /// - Returns: A problem for the log.
    private static func scan(_ pattern: EndpointPattern, _ found: inout FoundEndpoints) -> String? {
        do {
            found.update(try pattern.scan())
            return found.isFull ? "more than \(EndpointPattern.maxInstances) instances; the others are not used" : nil
        } catch {
            // The instances that are known stay.
            return error.description
        }
    }
}

/// The instances of a pattern that are used: the first ones that were found, up to a limit. A pure value.
struct FoundEndpoints {
    private(set) var endpoints: [String] = []
    /// Whether there are more instances than may be used.
    private(set) var isFull = false

    /// The endpoints of the sockets that are there now. An instance that is used already stays in use.
    mutating func update(_ found: [String], limit: Int = EndpointPattern.maxInstances) {
        let (current, known) = (Set(found), Set(endpoints))
        let kept = endpoints.filter(current.contains)
        let new = found.filter { !known.contains($0) }
        isFull = kept.count + new.count > limit
        endpoints = (kept + new.prefix(limit - kept.count)).sorted()
    }
}

import CZeroMQ
import DedicatedThread
import Logging
import Synchronization

/// Looks for the instances of all patterns of a bus, twice a second, on a thread of its own.
///
/// It scans the folders. A notification by the system would not come from every file system, and not for a folder that does not
/// exist yet. A scan takes some microseconds.
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
        var isRunning = false
        var isClosed = false
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
            guard !endpoints.patterns.isEmpty, !state.isClosed else { return (state.lastID, false) }
            state.registrations[state.lastID] = Registration(endpoints: endpoints, known: known, changed: changed)
            defer { state.isRunning = true }
            return (state.lastID, !state.isRunning)
        }
        if isFirst {
            do {
                try DedicatedThread.start { self.run() }
            } catch {
                state.withLock { state in
                    state.registrations[id] = nil
                    state.isRunning = false
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
            defer { state.isClosed = true }
            return !state.isClosed
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

package import Logging
import Synchronization

/// A client for each instance of a service, for questions that each instance has to answer. The instances of a pattern come and go.
package final class InstanceClients: Sendable {
    /// An instance of the service.
    package struct Instance: Sendable {
        /// Unique among all instances of these clients. An instance that was gone and is there again has another one.
        package let id: Int
        /// For people: the file name of the socket without `.sock`, such as `fcm-relay@2`. For a fixed endpoint it is its number among
        /// the settings' endpoints, counted from 1.
        package let name: String
        package let client: CommandClient
    }

    /// The instances: those of the fixed endpoints in their order, and then the others in the order of their names.
    package var all: [Instance] { known.all }
    /// Yields all instances after each change. Only one task may iterate over it, and it may miss all changes but the latest.
    package let changes: AsyncStream<[Instance]>

    private let known: KnownInstances
    private let bus: Bus
    private let watch: EndpointWatch.ID

    /// - Parameter endpoints: As for ``CommandClient``.
    /// - Throws: ``BusError`` if an endpoint is invalid or the bus is closed. An unreachable service is not an error.
    package init(bus: Bus, endpoints: [String], logger: Logger) throws(BusError) {
        let endpoints = try ClientEndpoints(endpoints)
        let instances = EndpointWatch.instances(of: endpoints)
        let (changes, signal) = AsyncStream.makeStream(of: [Instance].self, bufferingPolicy: .bufferingNewest(1))
        let known = KnownInstances(signal: signal) { endpoint throws(BusError) in
            try CommandClient(bus: bus, endpoints: [endpoint], logger: logger)
        }
        try known.add(fixed: endpoints)
        try known.set(instances)
        self.bus = bus
        self.known = known
        self.changes = changes
        watch = try bus.watch.add(endpoints, known: instances) { instances in
            do {
                try known.set(instances)
                return true
            } catch {
                logger.debug("no client for an instance", metadata: ["error": "\(error)"])
                return false
            }
        }
    }

    deinit {
        bus.watch.remove(watch)
        known.finish()
    }
}

/// The instances that ``InstanceClients`` knows. The watch of the bus changes them on its own thread.
private final class KnownInstances: Sendable {
    private struct State {
        var fixed: [InstanceClients.Instance] = []
        var found: [(endpoint: String, instance: InstanceClients.Instance)] = []
        var lastID = 0
    }

    private let signal: AsyncStream<[InstanceClients.Instance]>.Continuation
    private let connect: @Sendable (String) throws(BusError) -> CommandClient
    private let state = Mutex(State())

    init(
        signal: AsyncStream<[InstanceClients.Instance]>.Continuation,
        connect: @escaping @Sendable (String) throws(BusError) -> CommandClient
    ) {
        self.signal = signal
        self.connect = connect
    }

    var all: [InstanceClients.Instance] { state.withLock { $0.fixed + $0.found.map(\.instance) } }

    func add(fixed endpoints: ClientEndpoints) throws(BusError) {
        for (index, text) in endpoints.texts.enumerated() where Endpoint.pattern(in: text) == nil {
            let client = try connect(text)
            state.withLock { state in
                state.lastID += 1
                state.fixed.append(.init(id: state.lastID, name: "\(index + 1)", client: client))
            }
        }
    }

    /// The instances of the patterns that are there now.
    func set(_ endpoints: [String]) throws(BusError) {
        let known = state.withLock(\.found)
        var found = known.filter { endpoints.contains($0.endpoint) }
        for endpoint in endpoints where !known.contains(where: { $0.endpoint == endpoint }) {
            let client = try connect(endpoint)
            let id = state.withLock { state in
                state.lastID += 1
                return state.lastID
            }
            found.append((endpoint, .init(id: id, name: Self.name(of: endpoint), client: client)))
        }
        found.sort { $0.endpoint < $1.endpoint }
        state.withLock { [found] in $0.found = found }
        signal.yield(all)
    }

    func finish() {
        signal.finish()
    }

    private static func name(of endpoint: String) -> String {
        let file = endpoint[(endpoint.lastIndex(of: "/").map(endpoint.index(after:)) ?? endpoint.startIndex)...]
        return String(file.hasSuffix(".sock") ? file.dropLast(".sock".count) : file)
    }
}

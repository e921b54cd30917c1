import ServiceKit

/// Decides which services to start next. Pure: ready services in, services to start out. Independent services start concurrently.
struct StartOrder: Sendable {
    private var waiting: [ServiceEntry]
    private var ready: Set<ServiceEntry> = []

    /// - Parameter services: The services. All of their dependencies are among them.
    init(_ services: [ServiceEntry]) {
        waiting = services
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

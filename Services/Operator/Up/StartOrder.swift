import ServiceKit

/// Which services to start next. Pure: services that are ready, in; services to start, out. Services that do not depend on each
/// other start side by side.
struct StartOrder: Sendable {
    private var waiting: [ServiceEntry]
    private var ready: Set<ServiceEntry> = []

    /// - Parameter services: Each of their dependencies is one of them.
    init(_ services: [ServiceEntry]) {
        waiting = services
    }

    /// - Returns: The services that can be started now, each of them once.
    mutating func next() -> [ServiceEntry] {
        let startable = waiting.filter { $0.startDependencies.allSatisfy(ready.contains) }
        waiting.removeAll(where: startable.contains)
        return startable
    }

    mutating func markReady(_ service: ServiceEntry) {
        ready.insert(service)
    }
}

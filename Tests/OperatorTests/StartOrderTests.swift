import ServiceKit
import Testing

@testable import Operator

/// Which services `msi up` starts concurrently.
@Suite("Start order")
struct StartOrderTests {
    @Test("A service starts when those that it depends on are ready, and those that do not depend on each other side by side")
    func catalogue() {
        var order = StartOrder(ServiceEntry.all)
        var started = order.next()
        #expect(Set(started) == Set(ServiceEntry.all.filter(\.startDependencies.isEmpty)))
        #expect(order.next() == [])
        var ready: Set<ServiceEntry> = []
        while let service = started.first(where: { !ready.contains($0) }) {
            order.markReady(service)
            ready.insert(service)
            started += order.next()
            #expect(Set(started) == Set(ServiceEntry.all.filter { ready.isSuperset(of: $0.startDependencies) }))
        }
        #expect(started.count == ServiceEntry.all.count && started.last == .gateway)
    }
}

@testable import Operator
import ServiceKit
import Testing

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

@Suite("Restart policy")
struct RestartPolicyTests {
    @Test("Restarts come at once at first, then with a growing backoff, and at once again after a good run")
    func delays() {
        var policy = RestartPolicy()
        let delays = (0..<9).map { _ in policy.delay(afterRunOf: .milliseconds(50)) }
        #expect(delays == [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000].map { .milliseconds($0) })
        #expect(policy.delay(afterRunOf: .seconds(10)) == .milliseconds(100))
        #expect(policy.delay(afterRunOf: .seconds(9)) == .milliseconds(200))
    }
}

import ServiceKit
import Testing

@testable import Operator

/// Which services `msi up` starts concurrently.
@Suite("Start order")
struct StartOrderTests {
    @Test("A service starts when those that it depends on are ready, and those that do not depend on each other side by side")
    func catalogue() {
        var order = StartOrder(ServiceEntry.all)
        #expect(order.next() == [.fcmEmulator, .cube])
        #expect(order.next() == [])
        order.markReady(.cube)
        #expect(order.next() == [])
        order.markReady(.fcmEmulator)
        #expect(order.next() == [.fcmRelay])
        order.markReady(.fcmRelay)
        #expect(order.next() == [.messageLog])
        order.markReady(.messageLog)
        #expect(order.next() == [.gateway])
        order.markReady(.gateway)
        #expect(order.next() == [])
    }
}

import CommandBus
import ServiceKit
import Testing

/// Each timeout on a message's way to FCM outlasts those within it.
@Suite("Delivery times")
struct DeliveryTimesTests {
    @Test("a request to FCM ends before the relay's answer is given up, and that before the message's lease ends")
    func delivery() {
        #expect(DeliveryTimes.fcmRequestTimeout >= .seconds(10), "Google asks for that")
        #expect(DeliveryTimes.relayTimeout > DeliveryTimes.fcmRequestTimeout)
        #expect(DeliveryTimes.minLease > DeliveryTimes.relayTimeout)
        #expect(DeliveryTimes.leaseDuration > DeliveryTimes.minLease)
    }

    @Test("a stop outlasts what is under way")
    func stops() {
        #expect(DeliveryTimes.relayStopTimeout > DeliveryTimes.fcmRequestTimeout)
        #expect(DeliveryTimes.relayDrainTimeout > DeliveryTimes.relayStopTimeout)
        #expect(DeliveryTimes.outboxStopTimeout > DeliveryTimes.relayTimeout)
        #expect(DeliveryTimes.supervisorStopTimeout > DeliveryTimes.relayDrainTimeout)
        #expect(DeliveryTimes.supervisorStopTimeout > ServerLimits().drainTimeout + DeliveryTimes.outboxStopTimeout)
    }
}

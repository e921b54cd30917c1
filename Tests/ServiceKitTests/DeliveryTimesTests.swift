import Bus
import ServiceKit
import Testing

/// Each timeout on a message's way to FCM is longer than those within it.
@Suite("Delivery times")
struct DeliveryTimesTests {
    @Test("The timeout of a request to FCM is shorter than that of the relay's answer, which is shorter than the message's lease")
    func delivery() {
        #expect(DeliveryTimes.fcmRequestTimeout == .seconds(15), "as Firebase's SDK")
        #expect(DeliveryTimes.relayTimeout == .seconds(20) && DeliveryTimes.relayStopTimeout == .seconds(20))
        #expect(DeliveryTimes.relayTimeout > DeliveryTimes.fcmRequestTimeout)
        #expect(DeliveryTimes.minLease > DeliveryTimes.relayTimeout)
        #expect(DeliveryTimes.leaseDuration - DeliveryTimes.minLease >= .seconds(8), "the time of a slow claim")
        #expect(DeliveryTimes.leaseDuration == .seconds(35), "as the page for operators says")
    }

    @Test("No relay works on a message when a message log whose clock is ahead sees the lease end")
    func clocks() {
        #expect(DeliveryTimes.maxClockDifference == .seconds(5), "as the page for operators says")
        #expect(DeliveryTimes.minLease - DeliveryTimes.maxClockDifference > DeliveryTimes.relayTimeout)
        #expect(DeliveryTimes.relayTimeout(within: DeliveryTimes.minLease) == DeliveryTimes.relayTimeout)
        #expect(DeliveryTimes.relayTimeout(within: DeliveryTimes.leaseDuration) == DeliveryTimes.relayTimeout)
        #expect(
            DeliveryTimes.relayTimeout(within: DeliveryTimes.minLease - .seconds(3)) == DeliveryTimes.relayTimeout - .seconds(3))
        #expect(DeliveryTimes.relayTimeout(within: DeliveryTimes.maxClockDifference) == .zero)
    }

    @Test("A relay ends its work on a command before the sender gives up, and remembers it for longer than a lease")
    func relay() {
        #expect(DeliveryTimes.fcmReconnectTimeout * 2 < DeliveryTimes.fcmRequestTimeout)
        #expect(DeliveryTimes.circuitProbeTimeout > DeliveryTimes.fcmRequestTimeout)
        #expect(DeliveryTimes.relayTimeout - DeliveryTimes.relayReplyMargin > DeliveryTimes.fcmRequestTimeout)
        #expect(DeliveryTimes.maxRelayTime > DeliveryTimes.relayTimeout)
        #expect(DeliveryTimes.maxRelayTime <= DeliveryTimes.leaseDuration)
        #expect(DeliveryTimes.sendMemory > DeliveryTimes.leaseDuration * 3, "a few attempts")
    }

    @Test("The gateway waits longer for the message log than a client waits for a connection or notices that it is lost")
    func gateway() {
        #expect(DeliveryTimes.storeTimeout > ClientLimits().connectGrace)
        #expect(DeliveryTimes.storeTimeout > BusTimes.silence)
    }

    @Test("The timeout of a stop is longer than that of any request in flight")
    func stops() {
        #expect(DeliveryTimes.relayStopTimeout > DeliveryTimes.fcmRequestTimeout)
        #expect(DeliveryTimes.relayDrainTimeout > DeliveryTimes.relayStopTimeout)
        #expect(DeliveryTimes.outboxStopTimeout > DeliveryTimes.relayTimeout)
        #expect(DeliveryTimes.supervisorStopTimeout > DeliveryTimes.relayDrainTimeout)
        #expect(DeliveryTimes.supervisorStopTimeout > ServerLimits().drainTimeout + DeliveryTimes.outboxStopTimeout)
    }
}

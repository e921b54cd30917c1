import Schemas
import ServiceKit
import Testing
import Time

@testable import Gateway

@Suite("The lifetime of a message")
struct MessageLifetimesTests {
    @Test(
        "An Alert has its own time to live, which is not longer than that of other messages",
        arguments: [(86_400, 2_419_200, 86_400), (86_400, 3_600, 3_600)] as [(Seconds, Seconds, Seconds)])
    func alerts(alert: Seconds, message: Seconds, expected: Seconds) {
        let lifetimes = MessageLifetimes(message: LiveSetting(message), alert: alert)
        #expect(lifetimes[.alert] == expected)
        #expect(lifetimes[.information] == message)
    }
}

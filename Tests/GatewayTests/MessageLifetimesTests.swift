import Schemas
import Testing

@testable import Gateway

@Suite("For how long a message is worth delivering")
struct MessageLifetimesTests {
    @Test(
        "an Alert has its own time, and no more than any message",
        arguments: [(86_400, 2_419_200, 86_400), (86_400, 3_600, 3_600)] as [(Int64, Int64, Int64)])
    func alerts(alert: Int64, message: Int64, expected: Int64) {
        let lifetimes = MessageLifetimes(message: message, alert: alert)
        #expect(lifetimes[.alert] == expected)
        #expect(lifetimes[.information] == message)
    }
}

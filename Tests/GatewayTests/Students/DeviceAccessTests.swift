import Base
import DeviceTokens
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The gateway's check of devices' tokens, with the people service on the bus.
@Suite("Checks of devices' tokens", .timeLimit(.minutes(10)))
struct DeviceAccessTests {
    private let signer = TokenSigner()

    /// Runs a test after the people service has told its keys.
    private func withDevices(_ body: (DeviceAccess, PeopleDouble) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let people = PeopleDouble(signer)
            try await people.run(in: folder) {
                try await DeviceAccess.running(in: folder) { devices in
                    await devices.confirm(within: .seconds(10))
                    try await eventually("the keys") { !devices.state.withLock { $0.ends.publicKeys.isEmpty } }
                    try await body(devices, people)
                }
            }
        }
    }

    private func check(_ token: Secret, at devices: DeviceAccess) -> DeviceAccess.Check {
        devices.checkNow(token, token.credentialHash)
    }

    @Test("A token counts without a question to the people service, until its device has ended")
    func ends() async throws {
        try await withDevices { devices, people in
            let (device, other) = (ObjectID(), ObjectID())
            let (token, others) = (try signer.token("ann", device), try signer.token("ann", other))
            #expect(check(token, at: devices).caller?.device == device && check(others, at: devices).caller != nil)
            people.end(device)
            try await eventually("the end") { check(token, at: devices).refusal == .ended }
            #expect(check(others, at: devices).caller != nil)
            people.end(.sample("ANN"))
            try await eventually("the end of the account") { check(others, at: devices).refusal == .ended }
        }
    }

    @Test("More ends than an announcement has are read in pages")
    func pages() async throws {
        try await withDevices { devices, people in
            let first = ObjectID()
            let token = try signer.token("ann", first, issued: .ago(.seconds(5)))
            people.silently {
                people.end(first)
                for _ in 0..<(DevicesChanged.maxEnds * 2) { people.end(ObjectID()) }
            }
            try await eventually("the first end") { check(token, at: devices).refusal == .ended }
            try await eventually("all ends") { devices.state.withLock(\.ends.applied) == Int64(DevicesChanged.maxEnds * 2 + 1) }
        }
    }

    @Test("A flood of unknown keys is refused at once, and asks the people service nothing")
    func unknownKeys() async throws {
        try await withDevices { devices, people in
            let reads = people.reads
            for _ in 0..<1_000 {
                let token = try TokenSigner("invented").token()
                #expect(check(token, at: devices).refusal == .key)
            }
            #expect(people.reads - reads < 100)
        }
    }

    @Test("The tokens of a key that is withdrawn end, also those that were verified; a further key ends none")
    func keys() async throws {
        try await withDevices { devices, people in
            let other = TokenSigner("k2")
            let (first, second) = (try signer.token(), try other.token())
            #expect(check(first, at: devices).caller != nil)
            people.use([signer, other])
            try await eventually("the other key") { check(second, at: devices).caller != nil }
            #expect(check(first, at: devices).caller != nil)
            people.use([other])
            try await eventually("the end of the first key") { check(first, at: devices).refusal == .key }
            #expect(check(second, at: devices).caller != nil)
        }
    }

    @Test("A device that was ended through this gateway is refused before the people service tells, also with a clock ahead")
    func ownEnds() async throws {
        try await withDevices { devices, _ in
            let device = ObjectID()
            let token = try signer.token("ann", device, issued: .now + .seconds(30))
            #expect(check(token, at: devices).caller != nil)
            await devices.end(device: device)
            #expect(check(token, at: devices).refusal == .ended)
            let staying = try signer.token("bob", issued: .now + .seconds(30))
            await devices.end(account: .sample("bob"))
            #expect(check(staying, at: devices).caller != nil, "a device that signs in after the end of all")
        }
    }

    @Test("Without the people service a token counts for twelve hours, and with an unknown key nobody can say")
    func offline() async throws {
        try await withDevices { devices, _ in
            let later = ContinuousClock.now + DeviceEnds.onlineTime + .seconds(60)
            func check(_ token: Secret) -> DeviceAccess.Check { devices.checkNow(token, token.credentialHash, at: later) }
            #expect(check(try signer.token(issued: .ago(.seconds(11 * 3_600 + 59 * 60)))).caller != nil)
            #expect(check(try signer.token(issued: .ago(.seconds(12 * 3_600 + 60)))).refusal == .expired)
            let online = try signer.token(issued: .ago(.seconds(2 * 3_600)))
            #expect(self.check(online, at: devices).refusal == .expired)
            let unknown = check(try TokenSigner("k9").token())
            #expect(unknown.caller == nil && unknown.refusal == nil)
        }
    }
}

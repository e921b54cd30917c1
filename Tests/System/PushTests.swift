import Base
import Bus
import NIOHTTP1
import Schemas
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// Pushes of other programs, by the message log and directly by the relay.
    @Suite("Pushes")
    struct PushTests {
        @Test("A Python program sends pushes by both services, and gets the outcome for each token")
        func python() async throws {
            let stack = try SharedStack.current
            let fcm = stack.fcm
            let gone = try await Phone.register(at: fcm).token
            let removed = try await fcm.call(.DELETE, "/emulator/devices/\(gone)")
            #expect((200..<300).contains(Int(removed.status)))
            let phone = try await Phone.register(at: fcm).token
            let output = try await PythonScript.run("drive_pushes.py", [stack.stateDirectory + "/run", phone, gone])
            #expect(output.contains("pushes work"))
            let sent = try await fcm.acceptedSends().compactMap { $0["body"]?["message"] }
            #expect(sent.count { $0["data"]?["by"] == "relay" } == 1)
            #expect(sent.count { $0["data"]?["id"] == "17" } == 1)
        }
    }
}

extension HarmTests.WithPushServices {
    /// Pushes to a person, some of whose devices are gone.
    @Suite("Devices that are gone")
    struct GoneDeviceTests {
        @Test(
            "An uninstalled app and an ended subscription are known within a minute, and the person's other phone shows the push once"
        )
        func gone() async throws {
            let (stack, services) = try StackWithPushServices.current
            let subject = try await stack.portal.makeSubject("Alert")
            let browser = try await TestBrowser.subscribe(to: [subject.topicKey], at: services[0], through: stack.portal)
            let uninstalled = try await Phone.register(at: stack.fcm)
            try await stack.withPhone { phone in
                try await withBus { bus in
                    func client(of service: String) throws -> CommandClient {
                        try CommandClient(
                            bus: bus, endpoints: ["ipc://\(stack.stateDirectory)/run/\(service).sock"],
                            logger: quietLogger)
                    }
                    let student = try await Student(registeredAt: client(of: "people"))
                    let kept = try await student.device(.android, DeviceRegistration(fcmToken: Secret(phone.token)))
                    let gone = [
                        try await student.device(.android, DeviceRegistration(fcmToken: Secret(uninstalled.token))),
                        try await student.device(.web, DeviceRegistration(subscription: ObjectID(browser.id))),
                    ]
                    services[0].end(browser.number)
                    let removed = try await stack.fcm.call(.DELETE, "/emulator/devices/\(uninstalled.token)")
                    #expect((200..<300).contains(Int(removed.status)))
                    let command = try LogPush(
                        idempotencyKey: "1", accounts: [student.account], kind: .friendRequest, fairnessKey: "friends",
                        message: PersonPush(id: "1", link: "#people/requests", texts: ["en": "A friend request"]),
                        expires: .now + .seconds(3_600))
                    let messageLog = try client(of: "message-log")
                    let id = try await messageLog.request(command, context: CallerContext(actor: "test")).push.id
                    try await eventually("the ends of the two devices", within: .seconds(60)) {
                        let devices = try await student.people.request(ListDevices(student.account)).devices
                        return devices.allSatisfy { device in
                            (device.pushEnded != nil) == gone.contains(device.id)
                                && (device.push == nil) == gone.contains(device.id)
                        }
                    }
                    try await eventually("the end of the push") {
                        try await messageLog.request(GetPush(pushID: id)).relay.nextAttempt == nil
                    }
                    let recipients = try await messageLog.request(GetPush(pushID: id)).relay.recipients
                    #expect(recipients.filter { $0.state == .accepted }.map(\.recipient.device) == [kept])
                    #expect(Set(recipients.filter(\.isUnregistered).compactMap(\.recipient.device)) == Set(gone))
                    _ = try await phone.events(1)
                    #expect(phone.events.map { $0.json["notification"]?["title"]?.string } == ["A friend request"])
                }
            }
        }
    }
}

/// A person with an account, whose devices sign in with a password.
private struct Student {
    let people: CommandClient
    let account: AccountName
    private let credential: PersonCredential
    private static let address = "127.0.0.1"

    init(registeredAt people: CommandClient) async throws {
        self.people = people
        account = try #require(AccountName("gone.devices"))
        credential = PersonCredential(
            provider: .password, account: "\(account)", password: Secret("a long password of a student"))
        let device = TestDevice(.web)
        let nonce = try await people.request(ChallengeDevice()).nonce
        _ = try await people.request(
            AddPerson(
                account: account, credential: credential, device: device.document, nonce: nonce,
                proof: device.proof(of: credential, nonce: nonce), address: Self.address))
    }

    /// Signs in on a new device, and registers how it is reached.
    func device(_ platform: DevicePlatform, _ registration: DeviceRegistration) async throws -> ObjectID {
        let device = TestDevice(platform)
        let nonce = try await people.request(ChallengeDevice()).nonce
        let id = try await people.request(
            BeginDevice(
                credential: credential, device: device.document, nonce: nonce,
                proof: device.proof(of: credential, nonce: nonce), address: Self.address)
        ).device
        return try await people.request(RegisterDevice(id, of: account, registration)).id
    }
}

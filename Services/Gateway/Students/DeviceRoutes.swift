import Base
import Bus
import HTTPTypes
package import Schemas

/// The devices on which a person is signed in.
struct DeviceRoutes: Feature {
    let people: CommandClient
    let devices: DeviceAccess

    var section: APISection {
        APISection(
            "Students' devices",
            "`PUT /user` says who is on a device, and saves its key. `PUT /user/devices/{id}` says how the device is reached, and what it runs."
        )
    }

    private static let one = "/user/devices/:id"

    var routes: [Route] {
        [
            Route(.get, "/user/devices", right: .person, answer: .ok(OwnDevices.self)) { call in
                let reply = try await people.request(ListDevices(call.principal.account), context: call.caller)
                return Answer(OwnDevices(devices: reply.devices, current: call.principal.device))
            }.documented("List one's own devices", "The one that was used last comes first. `current` is the one that asks."),
            Route(.put, Self.one, right: .person, body: DeviceRegistration.self, answer: .ok(Device.self)) { call in
                let device = try call.identifier("id")
                guard device == call.principal.device else {
                    throw Problem(.forbidden, "A device registers only itself: \(call.principal.device).", field: "id")
                }
                let command = RegisterDevice(device, of: call.principal.account, try await call.body())
                return Answer(try await people.request(command, context: call.caller))
            }.documented(
                "Say how the device is reached",
                "By at most one of `fcm_token` and `subscription`, the id of `POST /app/push/subscriptions`. What is absent is removed. Repeat it "
                    + "whenever one of them, the language or the app's version changes. Another device with the same token or subscription "
                    + "gets no pushes any more."),
            Route(.delete, Self.one, right: .person, answer: .noContent) { call in
                let device = try call.identifier("id")
                _ = try await people.request(EndDevice(device, of: call.principal.account), context: call.caller)
                await devices.end(device: device)
                return Answer()
            }.documented(
                "Sign out a device",
                "Its tokens end at once at this gateway, and within a second at all others. The device that asks signs itself out."
            ),
        ]
    }
}

/// The answer of `GET /user/devices`.
struct OwnDevices: Codable, Sendable {
    let devices: [Device]
    /// The device that asks.
    let current: ObjectID
}

extension DeviceRegistration: HasExample {
    package static var example: DeviceRegistration {
        DeviceRegistration(
            fcmToken: Secret("bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1"), name: "Ann's phone", language: "en",
            appVersion: "1.1.0")
    }
}

extension Device: HasExample {
    package static var example: Device {
        Device(
            id: TopicKey.exampleTopic.subject, platform: .android, name: "Ann's phone", language: "en", appVersion: "1.1.0",
            created: .exampleTime, seen: .exampleTime, push: .fcm, pushEnded: nil)
    }
}

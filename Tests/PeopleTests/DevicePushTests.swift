import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    /// How devices are reached.
    @Suite("Pushes to devices", .timeLimit(.minutes(10)))
    struct DevicePushTests {
        private func register(
            _ person: SignedInPerson, fcm token: String? = nil, subscription: ObjectID? = nil, language: String? = "en"
        ) async throws -> Device {
            let registration = DeviceRegistration(
                fcmToken: token.map { Secret($0) }, subscription: subscription, name: "phone", language: language)
            let command = RegisterDevice(person.id, of: person.account, registration)
            return try await person.client.request(command, context: person.context)
        }

        private func resolve(
            _ accounts: [AccountName] = [], devices: [ObjectID] = [], kind: PushKind = .friendRequest, except: ObjectID? = nil,
            by people: RunningPeople
        ) async throws -> [ReachedDevice] {
            try await people.client.request(
                ResolveDevices(accounts: accounts, devices: devices, kind: kind, except: except)
            ).devices.sorted { $0.device < $1.device }
        }

        @Test("A device is reached by its latest address, until it is called unregistered", arguments: StoreKind.ofRules)
        func address(kind: StoreKind) async throws {
            try await RunningPeople.with(kind) { people in
                let ann = try await people.signedIn("ann", on: TestDevice(.android))
                #expect(try await resolve(["ann", "nobody"], by: people).isEmpty)
                #expect(try await register(ann, fcm: "token-1", language: "ar").push == .fcm)
                let first = try await resolve(["ann"], by: people)
                #expect(first.map(\.address.text) == ["token-1"] && first.map(\.language) == ["ar"])
                #expect(first.map(\.account) == ["ann"] && first.map(\.device) == [ann.id])
                let later = try await resolve(devices: [ann.id, ObjectID()], by: people)
                #expect(later == first)

                _ = try await register(ann, fcm: "token-2")
                let second = try #require(try await resolve(["ann"], by: people).first)
                #expect(second.address.text == "token-2")
                func unregistered(_ reached: ReachedDevice, at: UnixMilliseconds) -> EndDevicePushes {
                    EndDevicePushes(devices: [EndDevicePushes.Ended(device: reached.device, registered: at)])
                }
                // A report about an earlier address, and about no device.
                _ = try await people.client.request(unregistered(second, at: second.registered - 1))
                _ = try await people.client.request(
                    EndDevicePushes(
                        devices: [EndDevicePushes.Ended(device: ObjectID(), registered: 1)], subscriptions: [ObjectID()]))
                #expect(try await resolve(["ann"], by: people) == [second])
                _ = try await people.client.request(unregistered(second, at: second.registered))
                #expect(try await resolve(["ann"], by: people).isEmpty)
                let ended = try #require(try await people.client.request(ListDevices("ann")).devices.first)
                #expect(ended.push == nil && ended.pushEnded != nil)
                // The app is back, with the same token.
                #expect(try await register(ann, fcm: "token-2").pushEnded == nil)
                #expect(try await resolve(["ann"], by: people).map(\.address.text) == ["token-2"])
            }
        }

        @Test("The same token or subscription of another device ends there", arguments: StoreKind.ofRules)
        func moved(kind: StoreKind) async throws {
            try await RunningPeople.with(kind) { people in
                let ann = try await people.signedIn("ann")
                let ben = try await people.signedIn("ben")
                let subscription = ObjectID()
                _ = try await register(ann, subscription: subscription)
                #expect(try await resolve(["ann"], by: people).map(\.address.text) == ["\(subscription)"])
                _ = try await register(ben, subscription: subscription)
                let both = try await resolve(["ann", "ben"], by: people)
                #expect(both.map(\.account) == ["ben"] && both.map(\.transport) == [.webpush])
                #expect(try await people.client.request(ListDevices("ann")).devices.first?.pushEnded != nil)
                _ = try await people.client.request(EndDevicePushes(subscriptions: [subscription]))
                #expect(try await resolve(["ann", "ben"], by: people).isEmpty)
            }
        }

        @Test("Who has switched off the kind, is disabled, or is the author's device, is left out, also at a later attempt")
        func leftOut() async throws {
            try await RunningPeople.with(.sqlite) { people in
                let ann = try await people.signedIn("ann", on: TestDevice(.ios))
                let anns = try await people.signIn(RunningPeople.password(of: "ann"), on: TestDevice(.android))
                let ben = try await people.signedIn("ben", on: TestDevice(.ios))
                for (person, token) in [(ann, "a"), (anns, "b"), (ben, "c")] { _ = try await register(person, fcm: token) }
                let all = [ann.id, anns.id, ben.id]
                #expect(try await resolve(["ann", "ben"], by: people).map(\.device) == all.sorted())
                #expect(try await resolve(["ann"], except: ann.id, by: people).map(\.device) == [anns.id])
                #expect(try await resolve(devices: all, except: ann.id, by: people).map(\.device) == [anns.id, ben.id].sorted())
                let off = SetPushPreferences(PushPreferences(pushes: ["friend_request": false]))
                _ = try await people.client.request(off, context: ben.context)
                #expect(try await resolve(["ben"], devices: [ben.id], by: people).isEmpty)
                _ = try await people.client.request(UpdateAccount("ann", disabled: true))
                #expect(try await resolve(["ann"], devices: all, by: people).isEmpty)
            }
        }

        @Test("A person switches off each kind alone, and nobody else's pushes")
        func kinds() async throws {
            let all: [PushKind] = [
                .friendRequest, .friendAccepted, .sessionInvite, .sessionJoin, .sessionPost, .sessionHost, .sessionEnding,
                .sessionEnded, .sessionNew,
            ]
            try await RunningPeople.with(.sqlite) { people in
                let ann = try await people.signedIn("ann", on: TestDevice(.ios))
                let ben = try await people.signedIn("ben", on: TestDevice(.android))
                for (person, token) in [(ann, "a"), (ben, "b")] { _ = try await register(person, fcm: token) }
                for off in all {
                    let chosen = SetPushPreferences(PushPreferences(pushes: [off.description: false]))
                    _ = try await people.client.request(chosen, context: ann.context)
                    for kind in all {
                        let reached = try await resolve(["ann", "ben"], kind: kind, by: people).map(\.account.description)
                        #expect(reached.sorted() == (kind == off ? ["ben"] : ["ann", "ben"]), "\(kind) without \(off)")
                        // A device that a push was for already.
                        #expect(try await resolve(devices: [ann.id], kind: kind, by: people).isEmpty == (kind == off))
                    }
                }
            }
        }

        @Test("Only an own device is registered, and what a registration leaves out is removed")
        func replaced() async throws {
            try await RunningPeople.with(.sqlite) { people in
                let ann = try await people.signedIn("ann")
                let ben = try await people.signedIn("ben")
                let foreign = RegisterDevice(ben.id, of: "ann", DeviceRegistration(fcmToken: Secret("x")))
                #expect(await people.client.failure(of: foreign, context: ann.context)?.status == .notFound)
                _ = try await register(ann, fcm: "token", language: "ar")
                let empty = RegisterDevice(ann.id, of: "ann", DeviceRegistration())
                let device = try await people.client.request(empty, context: ann.context)
                #expect(device.push == nil && device.pushEnded == nil && device.language == nil && device.name == nil)
                #expect(try await resolve(["ann"], by: people).isEmpty)
            }
        }
    }
}

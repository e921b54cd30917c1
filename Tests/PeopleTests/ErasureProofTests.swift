import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import People

/// The erasure and the export of persons by themselves.
@Suite("Erasure by the person", .timeLimit(.minutes(10)))
struct ErasureProofTests {
    /// Signs a student in on a device.
    private func signIn(_ name: AccountName, on device: TestDevice, at people: RunningPeople) async throws -> DeviceSignedIn {
        let nonce = try await people.client.request(ChallengeDevice()).nonce
        let credential = PersonCredential(provider: .password, account: "\(name)", password: RunningPeople.password)
        return try await people.client.request(
            BeginDevice(
                credential: credential, device: device.document, nonce: nonce,
                proof: try device.proof(of: credential, nonce: nonce), address: "192.0.2.1"))
    }

    @Test("A proof of the account's device for this purpose is needed; then all devices end, and the person is gone")
    func proof() async throws {
        try await RunningPeople.withStudents(.sqlite, "ann", "bob") { people in
            let (device, other, messageLog) = (TestDevice(), TestDevice(.android), ErasureDouble())
            let own = try await signIn("ann", on: device, at: people).device
            let foreign = try await signIn("bob", on: other, at: people).device
            func erase(
                device id: ObjectID, by signer: TestDevice, for purpose: DeviceProof.Purpose = .erasure,
                nonce given: Secret? = nil
            ) async throws -> BeginErasure {
                let fresh = try await people.client.request(ChallengeDevice()).nonce
                let nonce = given ?? fresh
                let proof = try signer.proof(purpose, nonce: nonce, subject: "\(id)")
                return BeginErasure(of: "ann", device: id, nonce: nonce, proof: proof)
            }
            let person = CallerContext(actor: "ann")
            for (command, field) in [
                (try await erase(device: own, by: other), "proof"),
                (try await erase(device: own, by: device, for: .token), "proof"),
                (try await erase(device: foreign, by: other), "device"),
                (try await erase(device: ObjectID(), by: device), "device"),
                (try await erase(device: own, by: device, nonce: Secret("AAAA")), "nonce"),
            ] {
                let failure = await people.client.failure(of: command, context: person)
                #expect(failure?.status == .unauthenticated && failure?.field == field, "\(failure?.description ?? "")")
            }
            #expect(try await people.client.request(ListDevices("ann")).devices.count == 1)

            let report = try await messageLog.run(in: people.folder) {
                _ = try await people.client.request(erase(device: own, by: device), context: person)
                return try await people.finishedErasures()[0]
            }
            // A caller who waits and the loop may both ask.
            #expect(report.finished != nil && Set(messageLog.erased) == ["ann"])
            #expect(report.services.first?.removed.contains(ErasedData(what: "devices", count: 1)) == true)
            let ends = try await people.client.request(ReadDeviceChanges(after: 0)).ended
            #expect(ends.contains { $0.account == "ann" })
            #expect(try await people.client.request(ListDevices("bob")).devices.map(\.id) == [foreign])
        }
    }

    @Test("The export has all that the service knows of the person, and no secret")
    func export() async throws {
        try await RunningPeople.withStudents(.sqlite, "ann", "Bob", "carl", "dan") { people in
            let device = TestDevice()
            let (token, ann) = (Secret(String(repeating: "fcm-token-of-ann", count: 8)), people.student("ann"))
            let id = try await signIn("ann", on: device, at: people).device
            _ = try await people.client.request(
                RegisterDevice(id, of: "ann", DeviceRegistration(fcmToken: token, name: "Ann's phone")))
            try await people.befriend("ann", "bob")
            try await people.befriend("ann", "carl")
            _ = try await people.client.request(UpdateAccount("carl", disabled: true))
            try await ann.block("dan")
            _ = try await ann.request(SetProfile(Profile(firstName: "Ann", bio: "stamps")))
            _ = try await ann.request(SetPushPreferences(PushPreferences(pushes: ["friend_request": false])))
            let page = try await people.client.request(ExportPerson("ANN"))
            #expect(page.next == nil)
            #expect(
                Set(page.files.keys) == [
                    "person.json", "identities.json", "devices.json", "profile.json", "friends.json", "preferences.json",
                ])
            #expect(page.files["person.json"]?.first?["account"] == "ann")
            #expect(page.files["identities.json"]?.first?["provider"] == "password")
            #expect(page.files["devices.json"]?.map { $0["name"] } == ["Ann's phone"])
            #expect(page.files["profile.json"]?.first?["bio"] == "stamps")
            // Carl is disabled, and nobody finds him.
            let relations = page.files["friends.json"]?.map { [$0["account"], $0["state"]] }
            #expect(relations == [["Bob", "friends"], ["dan", "blocked"]])
            #expect(page.files["preferences.json"]?.first?["pushes"]?["friend_request"] == false)
            let text = page.files.values.flatMap(\.self).map(\.text).joined()
            for secret in [token.text, device.document.key, device.thumbprint] { #expect(!text.contains(secret)) }
            #expect(await people.client.failure(of: ExportPerson("nobody"))?.status == .notFound)
        }
    }
}

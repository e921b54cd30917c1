import Base
import FoundationEssentials
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Gateway

/// The export and the erasure of persons over HTTP, with all services.
@Suite("Export and erasure over HTTP", .timeLimit(.minutes(10)))
struct ErasureOverHTTPTests {
    /// The services that the gateway needs at its start, and the other ones with data of persons.
    private static let services =
        ServiceEntry.gateway.startDependencies.map(\.executable) + [ServiceEntry.study.executable]

    /// The body of `POST /user/erasure`.
    private func proof(of session: DeviceSession, for purpose: DeviceProof.Purpose = .erasure) async throws -> JSONValue {
        let nonce = try await session.gateway.nonce()
        let proof = try session.key.proof(purpose, nonce: nonce, subject: "\(session.device)")
        return ["nonce": .string(nonce.text), "proof": .string(proof)]
    }

    @Test("A person takes their data along, and erases themself by a proof of the device: all devices are out")
    func byPerson() async throws {
        try await RunningGateway.with(services: Self.services) { gateway in
            let (ann, bob) = (try await gateway.student("ann"), try await gateway.student("bob"))
            let second = try await gateway.session("ann")
            try await ann.befriend(bob)
            let set = try await ann.request("PUT", "/user/profile", body: ["bio": "stamps", "visibility": [:]])
            #expect(set.status == 200, "\(set)")

            let archive = try await second.request("GET", "/user/export", headers: ["Accept-Language": "ar, en;q=0.5"])
            #expect(archive.status == 200 && archive["Content-Type"] == "application/zip", "\(archive)")
            #expect(archive["Content-Disposition"] == "attachment; filename=\"ann.zip\"")
            for text in [
                "README.txt", "ما لدى النظام", "people/friends.json", "\"bob\"", "stamps", "message-log/pushes.json",
                "study/classes.json", "study/sessions.json", "study/posts.json", "study/invites.json",
            ] {
                #expect(archive.body.firstRange(of: Data(text.utf8)) != nil, "\(text)")
            }
            #expect(archive.body.firstRange(of: Data(ann.key.document.key.utf8)) == nil)

            for (body, field) in [
                (try await proof(of: ann, for: .token), "proof"), (["nonce": "AAAA", "proof": "BBBB"], "nonce"),
            ] {
                let refused = try await ann.request("POST", "/user/erasure", body: body)
                let document = try refused.json
                #expect(refused.status == 401 && document["field"]?.string == field, "\(refused)")
            }
            let erased = try await ann.request("POST", "/user/erasure", body: try await proof(of: ann))
            #expect(erased.status == 200, "\(erased)")
            let report = try erased.json
            #expect(report["finished"]?.integer != nil && report["waiting"] == [])
            #expect(report["services"]?.elements?.compactMap { $0["service"]?.string } == ["people", "study", "message-log"])
            for session in [ann, second] {
                let answer = try await session.request("GET", "/user")
                #expect(answer.status == 401, "\(answer)")
            }
            #expect(try await bob.request("GET", "/user/friends").json["friends"] == [])
            #expect(try await bob.request("GET", "/users/ann").status == 404)
        }
    }

    @Test("A super user erases a student, no staff and nobody unknown; the token of a device does not")
    func bySuperUser() async throws {
        try await RunningGateway.with(services: Self.services) { gateway in
            let (ann, bob) = (try await gateway.student("ann"), try await gateway.student("bob"))
            try await gateway.addAccount("carl")
            #expect(try await bob.request("POST", "/account/ann/erasure").status == 403)
            #expect(try await gateway.with(token: nil).request("POST", "/account/ann/erasure").status == 401)
            #expect(try await gateway.request("POST", "/account/carl/erasure").status == 409)
            #expect(try await gateway.request("POST", "/account/nobody/erasure").status == 404)
            #expect(try await ann.request("GET", "/user").status == 200)
            let erased = try await gateway.request("POST", "/account/ANN/erasure")
            #expect(erased.status == 200, "\(erased)")
            #expect(try await ann.request("GET", "/user").status == 401)
            #expect(try await gateway.request("GET", "/account/ann").status == 404)
            #expect(try await gateway.request("POST", "/account/ann/erasure").status == 404)
            #expect(try await bob.request("GET", "/user").status == 200)
        }
    }
}

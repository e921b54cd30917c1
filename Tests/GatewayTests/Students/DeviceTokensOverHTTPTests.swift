import Base
import DeviceTokens
import FoundationEssentials
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// The tokens of devices at a gateway's process.
@Suite("Devices' tokens over HTTP", .timeLimit(.minutes(10)))
struct DeviceTokensOverHTTPTests {
    private let signer = TokenSigner()

    /// Runs a test with a gateway and a people service that the test makes up.
    private func withGateway(_ body: (RunningGateway, PeopleDouble, _ folder: String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let people = PeopleDouble(signer)
            try await people.run(in: folder) {
                try await RunningGateway.with(services: [], in: folder) { try await body($0, people, folder) }
            }
        }
    }

    @Test("A device's token is for the routes of persons alone, and makes no difference where none is needed")
    func rights() async throws {
        try await withGateway { gateway, people, _ in
            let ann = gateway.with(token: try signer.token("Ann").text)
            let own = try await ann.request("GET", "/user")
            #expect(own.status == 200 && own["ratelimit-policy"] == "\"account\";q=600;w=60", "\(own)")
            #expect(people.asked.last?.actor == "Ann" && people.asked.last?.credential == nil)
            for target in ["/session", "/account", "/message", "/events", "/token", "/account/Ann"] {
                let refused = try await ann.request("GET", target)
                #expect(refused.status == 403 && refused.problem == "forbidden", "\(target): \(refused)")
            }
            #expect(try await ann.request("GET", "/problems").status == 200)
            let challenge = try await ann.request("GET", "/user/challenge")
            #expect(challenge.status == 200 && people.asked.last?.actor == nil, "\(challenge)")
            // Only the GET of this path requires a token.
            let signIn =
                #"{"credential":{"provider":"google","id_token":"a.b.c"},"nonce":"n","proof":"p","#
                + #""device":{"key":"BK","platform":"web"}}"#
            for caller in [ann, gateway.with(token: "a.b.c"), gateway] {
                let answer = try await caller.request("PUT", "/user", body: signIn)
                #expect(answer.status == 200 && people.asked.last?.actor == nil, "\(answer)")
            }
            let none = try await gateway.with(token: nil).request("GET", "/user")
            #expect(none.status == 401 && none.object["field"] as? String == "Authorization", "\(none)")
        }
    }

    @Test("Each refusal is 401 with its reason, everywhere but where the credential is ignored, and no log has a token")
    func refusals() async throws {
        try await withGateway { gateway, people, _ in
            let device = ObjectID()
            let ended = try signer.token("ann", device)
            people.end(device)
            try await eventually("the end") { try await gateway.with(token: ended.text).request("GET", "/user").status == 401 }
            let tokens: [(Secret, DeviceTokenRefusal)] = [
                (Secret("a.b.c"), .form), (try TokenSigner("k7").token(), .key), (try TokenSigner().token(), .signature),
                (try signer.token(issued: .now + .seconds(120)), .early),
                (try signer.token(issued: .ago(.seconds(3_700))), .expired),
                (ended, .ended),
            ]
            for (token, refusal) in tokens {
                let caller = gateway.with(token: token.text)
                for (method, target) in [
                    ("GET", "/user"), ("GET", "/problems"), ("GET", "/session"), ("DELETE", "/user/friends/bob"),
                ] {
                    let answer = try await caller.request(method, target)
                    #expect(answer.status == 401 && answer.object["detail"] as? String == refusal.text, "\(refusal): \(answer)")
                    #expect(answer["www-authenticate"] == "Bearer" && answer.object["field"] as? String == "Authorization")
                }
                #expect(try await caller.request("GET", "/user/challenge").status == 200)
                #expect(!gateway.process.log.contains(token.text))
            }
        }
    }

    @Test("Without the people service a token is taken until twelve hours after its issue, unless its end is in the kept file")
    func alone() async throws {
        try await withTemporaryFolder { folder in
            let ended = ObjectID()
            let kept = KeptEnds(
                applied: 1, keys: [signer.announced],
                ended: [EndedTokens(number: 1, at: .ago(.seconds(60)), device: ended)])
            try KeptEndsFile(in: folder).replace(by: kept)
            // Again after a restart.
            for _ in 0..<2 {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    func status(of device: ObjectID = ObjectID(), after age: Duration) async throws -> Int {
                        let token = try signer.token("ann", device, issued: .ago(age))
                        return try await gateway.with(token: token.text).request("GET", "/user").status
                    }
                    // 503: the token is valid, and the people service is away.
                    #expect(try await status(after: .seconds(11 * 3_600 + 59 * 60)) == 503)
                    #expect(try await status(after: .seconds(12 * 3_600 + 60)) == 401)
                    #expect(try await status(of: ended, after: .seconds(120)) == 401)
                    let unknown = try await gateway.with(token: TokenSigner("k2").token().text).request("GET", "/user")
                    #expect(unknown.status == 503 && unknown.problem == "service-unavailable", "\(unknown)")
                    #expect(
                        try await gateway.with(token: TokenSigner("k2").token().text).request("GET", "/problems").status == 200)
                }
            }
        }
    }

    @Test(
        "A device that has signed out is refused at once, also after the gateway was killed and while the people service is away")
    func signOut() async throws {
        try await withTemporaryFolder { folder in
            let people = PeopleDouble(signer)
            let device = ObjectID()
            let token = try signer.token("ann", device).text
            try await people.run(in: folder) {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let ann = gateway.with(token: token)
                    try await eventually("the first file") {
                        FileManager.default.fileExists(atPath: "\(folder)/\(KeptEndsFile.name)")
                    }
                    // The double announces nothing of it.
                    #expect(try await ann.request("DELETE", "/user/devices/\(device)").status == 204)
                    #expect(people.asked.last?.fields == ["account": "ann", "device": .string("\(device)")])
                    #expect(try await ann.request("GET", "/user").status == 401)
                    await gateway.process.kill()
                }
            }
            try await RunningGateway.with(services: [], in: folder) { gateway in
                #expect(try await gateway.with(token: token).request("GET", "/user").status == 401)
                let other = try signer.token("ann").text
                #expect(try await gateway.with(token: other).request("GET", "/user").status == 503)
            }
        }
    }

    @Test("A device whose end is told while its request's body arrives has no effect any more")
    func heldBody() async throws {
        try await withGateway { gateway, people, _ in
            let device = ObjectID()
            let token = try signer.token("ann", device).text
            let body = #"{"account":"bob"}"#
            let held = try HeldConnection(to: gateway.port)
            held.sendHead("POST", "/user/friends", ["Authorization: Bearer \(token)"], length: body.utf8.count)
            people.end(device)
            try await eventually("the end") { try await gateway.with(token: token).request("GET", "/user").status == 401 }
            held.send(body.utf8)
            #expect(try await held.answer().status == 401)
            #expect(!people.asked.contains { $0.name == AskFriend.name })
        }
    }

    @Test("A people service of an earlier version is 503 for students, and not their mistake")
    func earlierVersion() async throws {
        try await withTemporaryFolder { folder in
            try KeptEndsFile(in: folder).replace(by: KeptEnds(applied: 0, keys: [signer.announced], ended: []))
            try await BusDouble.run("people", in: folder, answers: { _ in }) {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let ann = gateway.with(token: try signer.token().text)
                    for (method, target, body) in [
                        ("GET", "/user", nil as String?), ("GET", "/user/challenge", nil),
                        ("POST", "/user/friends", #"{"account":"bob"}"#),
                    ] {
                        let answer = try await ann.request(method, target, body: body)
                        #expect(answer.status == 503 && answer.problem == "service-unavailable", "\(target): \(answer)")
                    }
                }
            }
        }
    }
}

import Base
import Foundation
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// Students at a gateway with all services.
@Suite("Students over HTTP", .timeLimit(.minutes(10)))
struct PersonsOverHTTPTests {
    private func field(_ answer: HTTPAnswer) -> String? { answer.object["field"] as? String }

    @Test(
        "A person registers once, by whatever number of retries, and then signs in; a key that the account has is the same device"
    )
    func register() async throws {
        try await RunningGateway.with { gateway in
            let phone = TestDevice()
            let unknown = try await gateway.signIn(on: phone, .password("Ann"))
            #expect(unknown.status == 401 && field(unknown) == "password", "\(unknown)")
            let once = ["Idempotency-Key": "once"]
            let registered = try await gateway.register("Ann", on: phone, headers: once)
            #expect(registered.status == 201 && registered["location"] == "/user", "\(registered)")
            #expect(registered.object["account"] as? String == "Ann" && registered.object["role"] as? String == "student")
            let again = try await gateway.register("Ann", on: phone, headers: once)
            #expect(again.status == 201 && again.body == registered.body, "\(again)")
            for headers in [[:], ["Idempotency-Key": "other"]] {
                let other = try await gateway.register("ann", on: TestDevice(), headers: headers)
                #expect(other.status == 409 && field(other) == "account", "\(other)")
            }
            let first = try await gateway.session("Ann", on: phone)
            let second = try await gateway.session("ann", on: phone)
            #expect(first.device == second.device)
            let tablet = try await gateway.session("ann", on: TestDevice(.android))
            #expect(tablet.device != first.device)
            let listed = try await first.request("GET", "/user/devices")
            #expect(listed.object["current"] as? String == "\(first.device)", "\(listed)")
            #expect((listed.object["devices"] as? [[String: Any]])?.count == 2)
            let own = try await tablet.request("GET", "/user")
            #expect(own.status == 200 && own.object["account"] as? String == "Ann", "\(own)")
            #expect((own.object["identities"] as? [[String: Any]])?.first?["provider"] as? String == "password")
        }
    }

    @Test("A wrong nonce, proof or password is 401 with its field, and nothing of it is in a log")
    func refusals() async throws {
        try await RunningGateway.with { gateway in
            let ann = try await gateway.person("ann")
            let wrong = try await gateway.signIn(on: ann.key, .password("ann", "wrong"))
            #expect(wrong.status == 401 && field(wrong) == "password", "\(wrong)")
            let forged = try await gateway.signIn(
                on: TestDevice(), .password("ann"), changing: ["device": try JSONValue(encoding: ann.key.document)])
            #expect(forged.status == 401 && field(forged) == "proof", "\(forged)")
            let invented = try await gateway.signIn(on: ann.key, .password("ann"), changing: ["nonce": "invented"])
            #expect(invented.status == 401 && field(invented) == "nonce", "\(invented)")
            // A nonce is for one proof, whatever comes of it.
            let body = try ann.key.signInBody(with: .password("ann"), nonce: try await gateway.nonce())
            #expect(try await gateway.with(token: nil).send("PUT", "/user", body).status == 200)
            let replayed = try await gateway.with(token: nil).send("PUT", "/user", body)
            #expect(replayed.status == 401 && field(replayed) == "nonce", "\(replayed)")
            #expect(!gateway.process.log.contains(RunningGateway.password) && !gateway.process.log.contains(ann.token))
        }
    }

    @Test("Without registration nobody registers, and those whom a super user has added sign in")
    func closed() async throws {
        try await RunningGateway.with(people: ["MSI_REGISTRATION": "off"]) { gateway in
            let refused = try await gateway.register("ann", on: TestDevice())
            #expect(refused.status == 403, "\(refused)")
            #expect(try await gateway.student("ann").request("GET", "/user").status == 200)
        }
    }

    @Test("With a code of a super user people register, and become professors")
    func codes() async throws {
        try await RunningGateway.with(people: ["MSI_REGISTRATION": "code"]) { gateway in
            func code(_ grants: String) async throws -> String {
                let added = try await gateway.send(
                    "POST", "/access-codes",
                    [
                        "grants": .string(grants), "uses": 1,
                        "expires": .integer((UnixMilliseconds.now + .seconds(3_600)).rawValue),
                    ])
                #expect(added.status == 201 && added["location"]?.hasPrefix("/access-codes/") == true, "\(added)")
                return try #require(added.object["code"] as? String)
            }
            let none = try await gateway.register("ann", on: TestDevice())
            #expect(none.status == 403 && field(none) == "access_code", "\(none)")
            let key = TestDevice()
            let registered = try await gateway.register(
                "ann", on: key, changing: ["access_code": .string(try await code("account"))])
            #expect(registered.status == 201, "\(registered)")
            let ann = try await gateway.session("ann", on: key)
            let unknown = try await ann.request("POST", "/user/access-code", body: ["code": "K7QF-2M9X-ZB4T"])
            #expect(unknown.status == 403 && field(unknown) == "code", "\(unknown)")
            let used = try await ann.request(
                "POST", "/user/access-code", body: ["code": .string(try await code("professor"))])
            #expect(used.status == 200 && used.object["professor"] as? Bool == true, "\(used)")
            let listed = try await gateway.request("GET", "/access-codes")
            #expect(listed.object["access_codes"] as? [String] == [], "\(listed)")
        }
    }

    @Test("A device that is signed out elsewhere is out at every gateway, and its key is of no use any more")
    func signOut() async throws {
        try await withTemporaryFolder { folder in
            try await RunningGateway.with(in: folder) { gateway in
                let phone = try await gateway.person("ann")
                let browser = try await gateway.session("ann", on: TestDevice())
                try await withTemporaryFolder { other in
                    let settings = ["MSI_STATE_DIR": other, "MSI_RUNTIME_DIR": folder + "/run"]
                    try await RunningGateway.with(services: [], in: folder, settings: settings) { second in
                        let there = second.with(token: browser.token)
                        #expect(try await there.request("GET", "/user").status == 200)
                        #expect(try await phone.request("DELETE", "/user/devices/\(browser.device)").status == 204)
                        #expect(try await browser.request("GET", "/user").status == 401)
                        // The test machine may be busy.
                        try await eventually("the end there", within: .seconds(5)) {
                            try await there.request("GET", "/user").status == 401
                        }
                    }
                }
                let exchanged = try await browser.exchange()
                #expect(exchanged.status == 401 && field(exchanged) == "device", "\(exchanged)")
                #expect(try await phone.refreshed().request("GET", "/user").status == 200)
                let gone = try await phone.request("DELETE", "/user/devices/\(browser.device)")
                #expect(gone.status == 404, "\(gone)")
            }
        }
    }

    @Test("Super users find students, sign out their devices and disable them; without parameters the list has the staff alone")
    func administration() async throws {
        try await RunningGateway.with { gateway in
            let (ann, ben) = (try await gateway.person("ann"), try await gateway.person("ben"))
            try await gateway.addAccount("annette")
            func names(_ query: String) async throws -> [String] {
                let accounts = try await gateway.request("GET", "/account\(query)").object["accounts"] as? [[String: Any]]
                return try #require(accounts).compactMap { $0["account"] as? String }
            }
            #expect(try await names("") == ["admin", "annette"])
            #expect(try await names("?role=student") == ["ann", "ben"])
            #expect(try await names("?q=ANN") == ["ann", "annette"])
            let page = try await gateway.request("GET", "/account?role=student&limit=1")
            let next = try #require(page.object["next"] as? String)
            #expect(next.contains("role=student") && page["link"]?.contains(next) == true, "\(next)")
            let rest = try await gateway.request("GET", next)
            #expect((rest.object["accounts"] as? [[String: Any]])?.first?["account"] as? String == "ben", "\(rest)")
            #expect(try await gateway.request("GET", "/account?role=tutor").status == 400)
            #expect(try await gateway.request("GET", "/account?role=student&after=x").status == 400)
            let found = try await gateway.request("GET", "/account/ann")
            #expect(found.status == 200 && found.object["role"] as? String == "student", "\(found)")

            let devices = try await gateway.request("GET", "/account/ann/devices")
            #expect((devices.object["devices"] as? [[String: Any]])?.first?["id"] as? String == "\(ann.device)", "\(devices)")
            #expect(try await gateway.request("DELETE", "/account/ben/devices/\(ann.device)").status == 404)
            #expect(try await gateway.request("DELETE", "/account/ann/devices/\(ann.device)").status == 204)
            #expect(try await ann.request("GET", "/user").status == 401)
            #expect(try await gateway.request("DELETE", "/account/ben/devices").status == 204)
            #expect(try await ben.request("GET", "/user").status == 401)

            let again = try await gateway.session("ann")
            let disabled = try await gateway.request("PUT", "/account/ann", body: #"{"disabled":true,"professor":true}"#)
            #expect(disabled.status == 200 && disabled.object["professor"] as? Bool == true, "\(disabled)")
            #expect(try await again.request("GET", "/user").status == 401)
            let refused = try await gateway.signIn(on: TestDevice(), .password("ann"))
            #expect(refused.status == 401, "\(refused)")
        }
    }

    @Test("A student has no session, and the account that a super user removes is erased with its name")
    func erased() async throws {
        try await RunningGateway.with { gateway in
            let ann = try await gateway.person("ann")
            let session = try await gateway.with(token: nil).request(
                "POST", "/session", headers: ["Origin": "http://127.0.0.1"],
                body: #"{"account":"ann","password":"\#(RunningGateway.password)"}"#)
            #expect([401, 403].contains(session.status) && session["set-cookie"] == nil, "\(session)")
            #expect(try await gateway.request("DELETE", "/account/ann").status == 204)
            #expect(try await ann.request("GET", "/user").status == 401)
            #expect(try await gateway.request("GET", "/account/ann").status == 404)
            let again = try await gateway.register("Ann", on: TestDevice())
            #expect(again.status == 409 && field(again) == "account", "\(again)")
        }
    }

    @Test("A list of a university's office is tried first, and then adds accounts; repeated it changes nothing")
    func imports() async throws {
        try await RunningGateway.with(people: RunningGateway.someProvider) { gateway in
            func outcomes(dryRun: Bool) async throws -> [String?] {
                let rows: JSONValue = [
                    ["account": "ann", "oidc": "1", "display_name": "Ann Lee"], ["account": "admin", "oidc": "2"],
                ]
                let answer = try await gateway.send(
                    "POST", "/account/import", ["rows": rows, "dry_run": .boolean(dryRun)])
                #expect(answer.status == 200, "\(answer)")
                return try #require(answer.object["outcomes"] as? [[String: Any]]).map { $0["outcome"] as? String }
            }
            #expect(try await outcomes(dryRun: true) == ["added", "refused"])
            #expect(try await gateway.request("GET", "/account/ann").status == 404)
            #expect(try await outcomes(dryRun: false) == ["added", "refused"])
            #expect(try await outcomes(dryRun: false) == ["unchanged", "refused"])
            #expect(try await gateway.request("GET", "/account/ann").object["role"] as? String == "student")
            let many = try await gateway.request(
                "POST", "/account/import",
                body:
                    #"{"dry_run":true,"rows":[\#(Array(repeating: #"{"account":"a","oidc":"1"}"#, count: 101).joined(separator: ","))]}"#
            )
            #expect(many.status == 400 && field(many) == "rows", "\(many)")
        }
    }

    @Test("A change of friends reaches the other's open app, which finds what the event says")
    func friendship() async throws {
        try await RunningGateway.with { gateway in
            let (ann, bob) = (try await gateway.person("ann"), try await gateway.person("bob"))
            let headers = ["Authorization": "Bearer \(bob.token)"]
            try await withHTTPClient { http in
                try await EventStreamClient.with(
                    "http://127.0.0.1:\(gateway.port)/user/events", headers: headers, http: http
                ) { stream in
                    let asked = try await ann.request("POST", "/user/friends", body: ["account": "bob"])
                    #expect(asked.status == 200 && asked.object["state"] as? String == "asked", "\(asked)")
                    try await eventually("the request") { stream.events("person").contains { $0["kind"] == "requests" } }
                    let requests = try await bob.request("GET", "/user/friends/requests").object["received"] as? [[String: Any]]
                    #expect(requests?.first?["account"] as? String == "ann")
                    #expect(try await bob.request("PUT", "/user/friends/ann", body: ["accept": true]).status == 204)
                }
            }
            for (person, friend) in [(ann, "bob"), (bob, "ann")] {
                #expect(try await person.request("GET", "/user/friends").json == ["friends": [.string(friend)]])
            }
        }
    }
}

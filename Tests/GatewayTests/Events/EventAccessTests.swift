import Base
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// What the streams of an account carry.
@Suite("Rights of live events", .timeLimit(.minutes(10)))
struct EventAccessTests {
    private func setAccess(_ names: String, to topic: TopicKey, at gateway: RunningGateway) async throws {
        let set = try await gateway.request(
            "PUT", "/access/\(topic.channel)/\(topic.area)", body: #"{"access":[\#(names)]}"#)
        #expect(set.status == 200, "\(set)")
    }

    @Test("A communicator sees the messages of subjects that it may send to, and a change of the lists shows within a second")
    func lists() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let bob = try await gateway.newSession("bob")
            try await withEvents(of: gateway, headers: ["Cookie": bob.cookie]) { stream in
                func keys() -> [String?] { stream.events("message").map { $0["msi_key"]?.string } }
                _ = try await gateway.post(SamplePath(cube.anns).message())
                let open = try await gateway.post(SamplePath(cube.open).message())
                try await eventually("the message of the open subject") { keys().contains(open) }
                #expect(Set(keys()) == [open] && stream.events("reset") == [])

                try await setAccess(#""ann","bob""#, to: cube.anns, at: gateway)
                try await eventually("a reset") { stream.events("reset").count == 1 }
                let visible = try await gateway.post(SamplePath(cube.anns).message())
                try await eventually("the message of the other subject") { keys().contains(visible) }

                try await setAccess(#""ann""#, to: cube.anns, at: gateway)
                try await eventually("another reset") { stream.events("reset").count == 2 }
                let hidden = try await gateway.post(SamplePath(cube.anns).message())
                let last = try await gateway.post(SamplePath(cube.open).message())
                try await eventually("the last message") { keys().contains(last) }
                #expect(!keys().contains(hidden))

                // The position knows for which part of the cube it counts.
                let id = try #require(stream.lastEventID)
                try await withEvents(of: gateway, headers: ["Cookie": bob.cookie, "Last-Event-ID": id]) { again in
                    #expect(again.events("reset") == [])
                }
                try await setAccess("", to: cube.anns, at: gateway)
                try await withEvents(of: gateway, headers: ["Cookie": bob.cookie, "Last-Event-ID": id]) { again in
                    try await eventually("a reset") { again.events("reset").count == 1 }
                }
            }
        }
    }

    @Test("The streams of a revoked token, an ended sign-in and a disabled account end within a second")
    func revocation() async throws {
        try await CampusCube.withGateway { gateway, _ in
            let ann = try await gateway.newSession("ann")
            try await ann.confirm()
            let token = try await ann.makeToken(["read"])
            let bob = try await gateway.newSession("bob")
            try await withEvents(of: gateway) { untouched in
                try await withEvents(of: gateway, headers: ["Authorization": "Bearer \(token)"]) { stream in
                    let tokens = try await ann.request("GET", "/token").object["tokens"] as? [[String: Any]]
                    let id = try #require(tokens?.first?["id"] as? String)
                    #expect(try await ann.request("DELETE", "/token/\(id)").status == 204)
                    try await eventually("the end of the token's stream") { stream.hasEnded }
                }
                try await withEvents(of: gateway, headers: ["Cookie": ann.cookie]) { stream in
                    #expect(try await ann.request("DELETE", "/session").status == 204)
                    try await eventually("the end of the sign-in's stream") { stream.hasEnded }
                }
                try await withEvents(of: gateway, headers: ["Cookie": bob.cookie]) { stream in
                    let disabled = try await gateway.request("PUT", "/account/bob", body: #"{"disabled":true}"#)
                    #expect(disabled.status == 200, "\(disabled)")
                    try await eventually("the end of the account's stream") { stream.hasEnded }
                }
                #expect(!untouched.hasEnded)
            }
            try await withEvents(of: gateway, headers: ["Cookie": ann.cookie]) { #expect($0.status == 401) }
        }
    }

    @Test("While the people service is away, streams of a caller without a usable copy go on to the end of the credential")
    func expiry() async throws {
        try await CopiesAlone.with { copies, _ in
            let access = EventAccess(cube: copies.cube, credentials: copies.credentials)
            let ann = try #require(AccountName("ann"))
            func known(_ name: String, expires: UnixMilliseconds?) -> StreamRights {
                let credential = Credential.sample(.communicator, ann, expires: expires)
                let principal = Principal(credential, hash: Secret(name).credentialHash)
                copies.add(principal)
                return StreamRights(principal: principal, cube: 1, view: .all)
            }
            /// Drops the copy, as a change does that the gateway cannot read.
            func drop(_ name: String) {
                let target = CredentialTarget.credential(Secret(name).credentialHash)
                copies.credentials.cache.withLock { _ = $0.changed(target, ended: [], at: .now) }
            }
            func goesOn(_ rights: StreamRights) async -> Bool {
                guard case .are = await access.requestedRights(after: rights) else { return false }
                return true
            }
            let past = UnixMilliseconds.now - .seconds(1)
            let expired = known("expired", expires: past)
            let expiredAndChanged = known("expired and changed", expires: past)
            let changed = known("changed", expires: past + .seconds(3_600))
            drop("expired and changed")
            drop("changed")
            #expect(await !goesOn(expired))
            #expect(await !goesOn(expiredAndChanged))
            #expect(await goesOn(changed))
        }
    }

    @Test("A token that may not read sees no messages")
    func sendOnly() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let ann = try await gateway.newSession("ann")
            try await ann.confirm()
            let token = try await ann.makeToken(["send"])
            try await withEvents(of: gateway, headers: ["Cookie": ann.cookie]) { whole in
                try await withEvents(of: gateway, headers: ["Authorization": "Bearer \(token)"]) { stream in
                    _ = try await gateway.post(SamplePath(cube.open).message())
                    try await eventually("the message") { !whole.events("message").isEmpty }
                    #expect(stream.status == 200 && stream.events("message") == [])
                }
            }
        }
    }
}

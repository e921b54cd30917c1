import Schemas
import TestSupport
import Testing

/// What the page for signing in asks.
@Suite("Ways to sign in", .timeLimit(.minutes(10)))
struct SignInMethodsTests {
    private static func text(provider: Bool = false, signedIn: Bool) -> String {
        #"{"password":true,"provider":\#(provider),"signed_in":\#(signedIn)}"#
    }

    @Test("The answer says whether a sign-in is valid, also without one, and nothing about it")
    func signedIn() async throws {
        try await RunningGateway.with(services: ["msi-people", "msi-cube"]) { gateway in
            let anonymous = gateway.with(token: nil)
            func ways(_ headers: [String: String] = [:]) async throws -> String {
                let answer = try await anonymous.request("GET", "/session/ways", headers: headers)
                #expect(answer.status == 200 && answer["cache-control"] == "no-store" && answer["set-cookie"] == nil, "\(answer)")
                return answer.text
            }
            #expect(try await ways() == Self.text(signedIn: false))
            #expect(try await ways(["Cookie": "msi_session=nothing"]) == Self.text(signedIn: false))
            // A token is no sign-in.
            #expect(try await ways(["Authorization": "Bearer \(gateway.token ?? "")"]) == Self.text(signedIn: false))
            let ann = try await gateway.newSession("ann")
            // Such a route waits only shortly for the check of a sign-in.
            try await eventually { try await ways(["Cookie": ann.cookie]) == Self.text(signedIn: true) }
            #expect(try await ann.request("DELETE", "/session").status == 204)
            #expect(try await ways(["Cookie": ann.cookie]) == Self.text(signedIn: false))
        }
    }

    @Test("The answer says whether a provider is set up, even while the people service is away")
    func provider() async throws {
        try await withTemporaryFolder { folder in
            let settings = ["MSI_OIDC_ISSUER": "https://login.example.edu", "MSI_OIDC_CLIENT_ID": "hub"]
            try await RunningGateway.with(services: [], in: folder) { gateway in
                func ways() async throws -> HTTPAnswer { try await gateway.with(token: nil).request("GET", "/session/ways") }
                let before = try await ways()
                #expect(before.status == 200 && before.text == Self.text(signedIn: false), "\(before)")
                try await RunningGateway.withServices(["msi-people"], settings: settings, in: folder) {
                    try await eventually { try await ways().text == Self.text(provider: true, signedIn: false) }
                }
                let after = try await ways()
                #expect(after.status == 200 && after.text == Self.text(provider: true, signedIn: false), "\(after)")
            }
        }
    }
}

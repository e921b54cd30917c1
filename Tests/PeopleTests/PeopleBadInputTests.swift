import Schemas
import TestSupport
import Testing

extension PeopleServiceTests {
    @Suite("Bad input of the people service")
    struct PeopleBadInputTests {
        private static let hash = String(repeating: "a", count: 64)

        private static let requests: [(command: String, payload: String, field: String)] = [
            ("account.add", #"{"account":"a b","password":"secret-password","role":"communicator"}"#, "account"),
            ("account.add", #"{"account":"","password":"secret-password","role":"communicator"}"#, "account"),
            ("account.add", #"{"account":"ann","password":"secret","role":"communicator"}"#, "password"),
            ("account.add", #"{"account":"ann","role":"communicator"}"#, "password"),
            ("account.add", #"{"account":"ann","password":"secret-password","role":"dean"}"#, "role"),
            ("account.add", #"{"account":"ann","role":"student","invite":true}"#, "invite"),
            ("account.add", #"{"account":"ann","password":7,"role":"communicator"}"#, "password"),
            ("account.add", #"{"account":"ann","role":"communicator","invite":false}"#, "password"),
            ("account.add", #"{"account":"ann","role":"communicator","invite":true,"display_name":""}"#, "display_name"),
            ("account.update", #"{"account":"ann","disabled":1}"#, "disabled"),
            ("account.update", #"{"account":"ann","display_name":"A\u200bnn"}"#, "display_name"),
            ("sign_in.invitation.read", #"{"invitation":"","address":"1"}"#, "invitation"),
            ("sign_in.invitation.accept", #"{"invitation":"ann.x","password":"secret","address":"1"}"#, "password"),
            ("account.password", #"{"account":"ann","password":"secret"}"#, "password"),
            ("account.list", #"{"limit":0}"#, "limit"),
            ("account.list", #"{"limit":1,"role":"dean"}"#, "role"),
            ("account.list", #"{"limit":1,"text":""}"#, "text"),
            ("account.import", #"{"rows":[],"dry_run":true}"#, "rows"),
            ("account.import", #"{"rows":[{"account":"ann","oidc":""}],"dry_run":true}"#, "rows[0].oidc"),
            ("access_code.add", #"{"grants":"professor","uses":0,"expires":1}"#, "uses"),
            ("access_code.add", #"{"grants":"everything","uses":1,"expires":1}"#, "grants"),
            ("access_code.use", #"{"code":"","address":"1"}"#, "code"),
            ("account.names", #"{"accounts":[]}"#, "accounts"),
            ("account.names", #"{"accounts":["ann","a b"]}"#, "accounts[1]"),
            ("sign_in.begin", #"{"account":"ann","password":"secret","address":""}"#, "address"),
            ("sign_in.begin", #"{"account":"ann","password":"secret"}"#, "address"),
            ("sign_in.confirm", #"{"hash":"ABC","password":"secret","address":"1"}"#, "hash"),
            ("token.add", #"{"name":"","account":"ann","rights":["read"]}"#, "name"),
            ("token.add", #"{"name":"x","account":"ann","rights":["fly"]}"#, "rights[0]"),
            ("token.add", #"{"name":"x","account":"ann","rights":["read","read"]}"#, "rights"),
            ("token.add", #"{"name":"x","account":"ann","rights":["read"],"scope":["campus"]}"#, "scope[0]"),
            ("token.add", #"{"name":"x","account":"ann","rights":["read"],"scope":[]}"#, "scope"),
            ("credential.find", #"{"hash":"\#(hash)x"}"#, "hash"),
            ("credential.used", #"{"uses":[{"hash":"\#(hash)","at":-1,"address":"1"}]}"#, "uses[0].at"),
            ("people.changes", #"{"after":"1"}"#, "after"),
        ]

        @Test("An error names the field, and contains no secret")
        func fields() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                for (command, payload, field) in Self.requests {
                    let failure = try #require(await people.client.failure(of: command, payload))
                    #expect(failure.status == .invalid && failure.field == field, "\(failure)")
                    #expect(!failure.message.contains("secret"), "\(failure)")
                }
                #expect(!people.log.has("secret"))
            }
        }
    }
}

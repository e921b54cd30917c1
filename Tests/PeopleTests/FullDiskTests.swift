import Base
import Bus
import Schemas
import TestSupport
import Testing

extension PeopleServiceTests {
    @Suite("People on a disk with only its reserve", .enabled(if: SmallDisk.isPossible))
    struct FullDiskTests {
        @Test("People sign in and out, and passwords, accounts and tokens can be changed and ended; none can be added")
        func reserve() async throws {
            try await SmallDisk.with(megabytes: 24) { disk in
                try await RunningPeople.with(in: disk.folder) { people in
                    let client = people.client
                    try await people.setUp()
                    try await people.add("ann")
                    try await people.add("bob")
                    let token = try await client.request(AddToken(name: "script", account: "bob", rights: [.read]))
                    let earlier = try await people.signIn("ann")
                    try disk.fill(leaving: 4 << 20)

                    let account = AddAccount(account: "carl", password: RunningPeople.password, role: .communicator)
                    #expect(await client.failure(of: account)?.status == .storageFull)
                    let code = AddAccessCode(grants: .professor, uses: 1, expires: .now + .seconds(60))
                    #expect(await client.failure(of: code)?.status == .storageFull)
                    let another = AddToken(name: "another", account: "bob", rights: [.read])
                    #expect(await client.failure(of: another)?.status == .storageFull)

                    let signIn = try await people.signIn("ann")
                    _ = try await client.request(
                        ConfirmSignIn(hash: signIn.hash, password: RunningPeople.password, code: nil, address: "192.0.2.1"))
                    _ = try await client.request(EndSignIn(hash: earlier.hash))
                    _ = try await client.request(RemoveToken(token.token.id))
                    _ = try await client.request(ChangePassword("ann", password: Secret("a new password")))
                    _ = try await client.request(UpdateAccount("bob", disabled: true))
                    #expect(try await people.credential(earlier.hash) == nil)
                    #expect(try await people.credential(signIn.hash) == nil)
                    #expect(try await people.credential(token.secret.credentialHash) == nil)
                    let entry = AuditEntry(by: .program, action: "a.b", object: AuditObject(kind: "k", id: "i"))
                    _ = try await client.request(AddAuditEntries(entries: [entry]))
                    let entries = try await client.request(ListAuditEntries(limit: 100)).entries
                    let expected = [
                        "sign_in.begin", "sign_in.confirm", "sign_in.end", "token.remove", "account.password", "account.update",
                        "a.b",
                    ]
                    #expect(entries.sorted { $0.number < $1.number }.suffix(expected.count).map(\.entry.action) == expected)
                }
            }
        }
    }
}

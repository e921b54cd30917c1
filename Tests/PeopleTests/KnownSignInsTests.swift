import Schemas
import Store
import TestSupport
import Testing
import Base

@testable import People

/// The right passwords before the service was started.
@Suite("Known sign-ins", .timeLimit(.minutes(10)))
struct KnownSignInsTests {
    @Test("The right passwords of the last 30 days are read from the audit log: the latest one of each account and address")
    func read() async throws {
        try await withTemporaryFolder { folder in
            let place = StoragePlace(database: nil, folder: folder)
            let store = try await Storage.open(PeopleStore.declaration, at: place, logger: quietLogger)
            let day = Duration.seconds(86_400)
            func entry(_ action: String, _ account: String, _ address: String, days: Int) -> AuditEntry {
                AuditEntry(
                    at: .now - Milliseconds(day * days), by: AuditAuthor(actor: account, address: address), action: action,
                    object: AuditObject(kind: "account", id: account))
            }
            let entries = [
                entry(BeginSignIn.name, "Ann", "2001:db8:1:2::5", days: 20),
                entry(BeginSignIn.name, "Ann", "2001:db8:1:2::6", days: 2),
                entry(BeginSignIn.name, "bob", "192.0.2.1", days: 29),
                entry(BeginSignIn.name, "eve", "192.0.2.1", days: 31),
                entry("sign_in.end", "dan", "192.0.2.1", days: 1),
            ]
            try await store.transaction { try $0.appendAudit(entries) }
            let known = try await KnownSignIns.read(from: store)
            let ann = PasswordCheck.Purpose.signIn(account: "ann", address: "2001:db8:1:2::7").limited
            let bob = PasswordCheck.Purpose.signIn(account: "bob", address: "192.0.2.1").limited
            #expect(Set(known.keys) == [ann, bob])
            let age = try #require(known[ann]).duration(to: .now)
            #expect((day * 2..<day * 3).contains(age), "\(age)")
            try await store.close()
        }
    }
}

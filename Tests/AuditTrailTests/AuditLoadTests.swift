import Bus
import Schemas
import TestSupport
import Testing
import Base

/// The audit log while many messages are posted.
@Suite("Audit under load", .timeLimit(.minutes(10)))
struct AuditLoadTests {
    private static let clients = 8
    /// Of each client.
    private static let posts = Level.isAll ? 400 : 25

    @Test(
        "The entries of a burst of messages follow, and accounts can be changed while they do",
        arguments: StoreKind.allCases)
    func burst(_ kind: StoreKind) async throws {
        // Its database server is its own, since it keeps it busy.
        try await AuditLog.alone(with: kind) { log in
            let archive = try log.client(of: "message-log")
            let service = try await log.start("msi-message-log")
            try await log.withPeople { _ in
                let admin = try #require(AccountName("admin"))
                let hash = CredentialHash(digest: (0..<32).map { UInt8($0) })
                _ = try await log.client.request(
                    SetUpPeople(account: admin, password: Secret("a password of the test"), tokenHash: hash),
                    timeout: .seconds(60))
                let tokens = 5
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<Self.clients {
                        group.addTask {
                            for _ in 0..<Self.posts {
                                _ = try await archive.request(
                                    LogMessage.scheduled("Title"), timeout: .seconds(60), context: CallerContext(actor: "ann"))
                            }
                        }
                    }
                    for number in 0..<tokens {
                        _ = try await log.client.request(
                            AddToken(name: "t\(number)", account: admin, rights: [.read]), timeout: .seconds(60),
                            context: CallerContext(actor: "admin"))
                    }
                    try await group.waitForAll()
                }
                // The account and its token, and those of the test.
                let all = Self.clients * Self.posts + 2 + tokens
                try await eventually("all \(all) entries", every: .milliseconds(100)) {
                    try await log.client.request(ReadAuditChain(limit: 1)).head.number >= all
                }
                try await log.expectWhole()
                #expect(try await log.links().count == all)
            }
            #expect(await service.stop() == 0)
        }
    }
}

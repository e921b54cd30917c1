import CommandBus
import Schemas
import TestSupport
import Testing
import Time

/// The audit log while many messages are posted.
@Suite("Audit under load", .timeLimit(.minutes(4)))
struct AuditLoadTests {
    private static let posts = Duration.seconds(8)
    private static let clients = 8

    @Test(
        "The entries of a burst of messages follow within a minute, and accounts can be changed meanwhile",
        arguments: StoreKind.allCases)
    func burst(_ kind: StoreKind) async throws {
        // Its database server is its own, since it keeps it busy.
        try await AuditLog.alone(with: kind) { log in
            let archive = try log.client(of: "message-log")
            let service = try await log.start("msi-message-log")
            try await log.withPeople { _ in
                let admin = try #require(AccountName("admin"))
                let hash = CredentialHash(digest: (0..<32).map { UInt8($0) })
                _ = try await Turn.hashing.take {
                    try await log.client.request(
                        SetUpPeople(account: admin, password: Secret("a password of the test"), tokenHash: hash))
                }
                let (count, tokens, longest) = try await withThrowingTaskGroup(of: Int.self) { group in
                    let end = ContinuousClock.now + Self.posts
                    for _ in 0..<Self.clients {
                        group.addTask {
                            var posted = 0
                            while ContinuousClock.now < end {
                                _ = try await archive.request(
                                    LogMessage.scheduled("Title"), timeout: .seconds(20), context: RequestContext(actor: "ann"))
                                posted += 1
                            }
                            return posted
                        }
                    }
                    var (tokens, longest) = (0, Duration.zero)
                    while ContinuousClock.now < end {
                        let start = ContinuousClock.now
                        _ = try await log.client.request(
                            AddToken(name: "t\(tokens)", account: admin, rights: [.read]), timeout: .seconds(20),
                            context: RequestContext(actor: "admin"))
                        tokens += 1
                        longest = max(longest, ContinuousClock.now - start)
                        try await Task.sleep(for: .milliseconds(200))
                    }
                    return (try await group.reduce(0, +), tokens, longest)
                }
                let start = ContinuousClock.now
                // The account and its token, and those of the test.
                let all = count + 2 + tokens
                try await eventually("all \(all) entries", within: .seconds(60), every: .milliseconds(100)) {
                    try await log.client.request(ReadAuditChain(limit: 1)).head.number >= all
                }
                let delay = ContinuousClock.now - start
                print(
                    "\(kind): \(count) messages in \(Self.posts), their entries \(delay) later; \(tokens) changes of accounts, the "
                        + "longest took \(longest)")
                #expect(tokens > 1)
                try await log.expectWhole()
                #expect(try await log.links().count == all)
            }
            #expect(await service.stop() == 0)
        }
    }
}

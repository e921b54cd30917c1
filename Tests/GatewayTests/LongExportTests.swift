import Bus
import Base
import NIOCore
import NIOHTTP1
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Exports of audit logs that take longer than the time of a response.
@Suite("Long exports", .timeLimit(.minutes(10)))
struct LongExportTests {
    private static let pages = 12

    /// A gateway with a people service that takes a while for each page of its log.
    ///
    /// - Parameters:
    ///   - response: The time of a response, or of a piece of it.
    ///   - page: The time of a page.
    ///   - lookUp: Finds the caller's credential again; by default it has not changed.
    private func withSlowLog(
        response: TimeAmount, page time: Duration = .zero, lookUp: CredentialLookup? = nil,
        _ body: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        let principal = try Principal.sample(.superUser)
        try await BusDouble.with { router in
            router.on(ListAuditEntries.self) { command, _ in
                try await Task.sleep(for: time)
                let page = command.after.flatMap { Int($0) } ?? 0
                let entries = (0..<Int(command.limit)).map { number in
                    NumberedAuditEntry(
                        number: Int64(page * Int(command.limit) + number + 1), hash: String(repeating: "0", count: 64),
                        entry: AuditEntry(
                            by: .program, action: "a.b", object: AuditObject(kind: "k", id: "i"),
                            after: .string(String(repeating: "x", count: 1_000))))
                }
                return ListAuditEntries.Reply(entries: entries, next: page + 1 < Self.pages ? "\(page + 1)" : nil)
            }
        } _: { people in
            var timeouts = ConnectionTimeouts()
            timeouts.response = response
            try await withRouteServer(
                AuditRoutes(people: people, lookUp: lookUp ?? { _ in principal.credential }).routes, as: principal,
                timeouts: timeouts, body)
        }
    }

    @Test("A client that reads gets every entry, even if the export takes longer than the timeout of a response")
    func whole() async throws {
        try await withSlowLog(response: .seconds(5), page: .milliseconds(500)) { port in
            try await withHTTPClient { http in
                let answer = try await Portal(port: port, http: http, token: nil).call(.GET, "/audit?format=csv")
                let lines = answer.text.split(separator: "\r\n")
                #expect(lines.count == 1 + Self.pages * 1_000)
                #expect(lines.last?.hasPrefix("\(Self.pages * 1_000),") == true)
            }
        }
    }

    @Test("A client that does not read is disconnected after the time of a piece")
    func unread() async throws {
        try await withSlowLog(response: .milliseconds(300)) { port in
            let silent = try HeldConnection(to: port, receiveBuffer: 4_096)
            silent.send("GET", "/audit?format=csv")
            try await eventually("it is disconnected") { try silent.isClosedByServer }
        }
    }

    @Test("The connection breaks before the next page if the caller's credential has ended or has lost the right")
    func revoked() async throws {
        let principal = try Principal.sample(.superUser)
        for later in [nil, Credential.sample(.communicator, principal.account)] as [Credential?] {
            let lookups = Mutex(0)
            let lookUp: CredentialLookup = { _ in
                let count = lookups.withLock { count in
                    count += 1
                    return count
                }
                return count < 3 ? principal.credential : later
            }
            try await withSlowLog(response: .seconds(120), lookUp: lookUp) { port in
                let client = try HeldConnection(to: port)
                client.send("GET", "/audit?format=csv")
                // After a complete answer it would stay open for longer.
                #expect(try await client.ends())
            }
            #expect(lookups.withLock(\.self) == 3)
        }
    }
}

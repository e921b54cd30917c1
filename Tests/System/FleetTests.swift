import Glibc
import JSON
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

extension SystemTests {
    /// `msi-phone fleet`: many phones, which count what they have received.
    @Suite("Fleet", .serialized)
    struct FleetTests {
        /// A fleet at a stack, from its start to its report.
        private func withFleet(
            at stack: Stack, _ arguments: [String], _ body: @Sendable (RunningProgram) async throws -> Void
        ) async throws -> FleetCount {
            let environment = [
                "MSI_STATE_DIR": stack.stateDirectory, "MSI_GATEWAY_PORT": "\(stack.portal.port)",
                "MSI_FCM_EMULATOR_PORT": "\(stack.fcm.port)",
            ]
            let end = try await withProgram(
                "msi-phone", arguments: ["fleet"] + arguments, environment: environment
            ) { program in
                _ = try await program.line(within: .seconds(60)) { $0.contains("\"ready\"") }
                try await body(program)
                try await program.end(within: .seconds(100))
            }
            #expect(end.exitCode == 0, "\(end.lines)")
            return try #require(FleetCount(log: end.lines), "\(end.lines)")
        }

        /// Only the fleet's phones report.
        private func silencePhone(of stack: Stack) async throws {
            let phone = Portal(port: try #require(stack.phonePort), http: stack.portal.http, token: nil)
            #expect(try await phone.call(.PUT, "/settings", ["receipts": false]).status == 204)
        }

        @Test("A fleet counts what its phones have received, and how long that took")
        func counts() async throws {
            try await withStack { stack in
                let forced = try await stack.portal.makeSubject("Alert", level: "Forced")
                let other = try await stack.portal.makeSubject("Information")
                try await silencePhone(of: stack)
                let posted = Mutex<[String]>([])
                let report = try await withFleet(at: stack, ["--count", "30"]) { fleet in
                    for subject in [forced, other, forced] {
                        let key = try await stack.portal.accepted(subject.message())
                        _ = try await stack.portal.message(key, hasState: "relayed")
                        posted.withLock { $0.append(key) }
                    }
                    fleet.signal(SIGTERM)
                }
                // No phone chose the other subject.
                #expect(report.phones == 30 && report.expected == 60 && report.delivered == 60, "\(report)")
                #expect(report.doubled == 0 && report.missing == 0, "\(report)")
                let keys = posted.withLock(\.self)
                #expect(report.received == [keys[0]: 30, keys[2]: 30])
                // The hub has the same counts, from the phones' reports.
                var receipts: [JSONValue?] = []
                for key in keys { receipts.append(try await stack.portal.message(key)["receipts"]) }
                let all: JSONValue = ["received": 30, "opened": 0]
                #expect(receipts == [all, nil, all])
                let (p50, p99) = (try #require(report.p50), try #require(report.p99))
                #expect(p50 > 0 && p99 >= p50 && p99 < 60_000, "\(report)")

                let empty = try await withFleet(at: stack, ["--count", "2", "--seconds", "1"]) { _ in }
                #expect(empty.phones == 2 && empty.expected == 0 && empty.p50 == nil, "\(empty)")
            }
        }
    }
}

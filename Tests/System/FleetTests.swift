import Glibc
import Base
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// `msi-phone fleet`: many phones, which count what they have received.
    @Suite("Fleet")
    struct FleetTests {
        private let stack: Stack

        init() throws {
            stack = try SharedStack.current
        }

        @Test("A fleet counts what its phones have received, and how long that took")
        func counts() async throws {
            let forced = try await stack.portal.makeSubject("Alert", level: "Forced")
            let other = try await stack.portal.makeSubject("Information")
            try await stack.withSilentPhone {
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
                // New phones fetch what earlier tests have posted, too.
                #expect(report.received.filter { keys.contains($0.key) } == [keys[0]: 30, keys[2]: 30])
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

        @Test(
            "Persons with two phones become friends: each push pops up once on both phones of the other, and on none of the sender's",
            .timeLimit(.minutes(10)))
        func persons() async throws {
            try await meet(identityPort: nil, pushes: 16)
            // Where no emulator answers, the persons have passwords.
            try await meet(identityPort: FreePort.choose(), pushes: Level.isAll ? 16 : 8)
        }

        /// - Parameters:
        ///   - identityPort: As for ``withFleet(at:_:identityPort:_:)``.
        ///   - pushes: How many pushes are waited for.
        private func meet(identityPort: Int?, pushes: Int) async throws {
            let before = try await personPushes
            let report = try await withFleet(
                at: stack, ["--count", "12", "--accounts", "5"], identityPort: identityPort
            ) { fleet in
                let signedIn = try await fleet.line { $0.contains("every person is signed in") }
                #expect(signedIn.contains("\"\(identityPort == nil)\""), "\(signedIn)")
                try await eventually("\(pushes) pushes, since both pairs have met", every: .milliseconds(200)) {
                    try await personPushes >= before + pushes
                }
                fleet.signal(SIGTERM)
            }
            let persons = try #require(report.persons)
            #expect(persons.accounts == 5 && persons.expected >= pushes, "\(persons)")
            #expect(persons.missing == 0 && persons.doubled == 0 && persons.stray == 0, "\(persons)")
        }

        /// How many pushes to persons FCM has accepted.
        private var personPushes: Int {
            get async throws {
                try await stack.fcm.acceptedSends().count { $0["body"]?["message"]?["data"]?["person_kind"] != nil }
            }
        }
    }
}

extension HarmTests.HarmedProduct {
    /// What the phones of a fleet fetch from the hub.
    @Suite("Fleet without FCM")
    struct FleetWithoutFCMTests {
        @Test(
            "While FCM is away, each phone fetches an Alert once, and removes it after a recall; FCM's own copy is dropped later",
            arguments: Level.isAll ? [Duration.zero, .seconds(600)] : [.zero])
        func fcmIsAway(for outage: Duration) async throws {
            let stack = try SharedStack.current
            try await stack.healthy()
            let subject = try await stack.portal.makeSubject("Alert", level: "Forced")
            // In a long outage the apps ask every minute, as those of students do.
            let interval = outage == .zero ? ["--interval", "2"] : []
            try await stack.withSilentPhone {
                let posted = Mutex<[String]>([])
                let report = try await withFleet(at: stack, ["--count", "12"] + interval) { fleet in
                    let end = ContinuousClock.now + outage
                    try await stack.whileFrozen("msi-fcm-emulator") {
                        for title in ["Kept", "Recalled"] {
                            let key = try await stack.portal.accepted(subject.message(title: title))
                            posted.withLock { $0.append(key) }
                        }
                        let keys = posted.withLock(\.self)
                        for key in keys {
                            _ = try await fleet.line(within: .seconds(180)) {
                                $0.contains("every phone has it") && $0.contains(key)
                            }
                        }
                        #expect(try await stack.portal.message(keys[0])["relay"]?["accepted"] == nil)
                        // Not while the relay waits for FCM's answer.
                        try await eventually("the recall", every: .milliseconds(200)) {
                            try await stack.portal.call(.DELETE, "/message/\(keys[1])").status == 200
                        }
                        try await Task.sleep(until: end)
                    }
                    let told = posted.withLock(\.self)
                    let kept = try #require(told.first)
                    _ = try await stack.portal.message(kept, hasState: "relayed", within: .seconds(180) + outage * 2)
                    // So that something is there to be dropped.
                    _ = try await fleet.line(within: .seconds(120)) {
                        $0.contains("every phone that had it has FCM's copy") && $0.contains(kept)
                    }
                    fleet.signal(SIGTERM)
                }
                let keys = posted.withLock(\.self)
                #expect(report.expected == 12 && report.delivered == 12 && report.missing == 0, "\(report)")
                // New phones fetch what earlier tests have posted, too.
                let received = report.received.filter { keys.contains($0.key) }
                #expect(report.doubled == 0 && received == [keys[0]: 12, keys[1]: 12], "\(report)")
                #expect(report.recalled == [keys[1]: 12], "\(report)")
                for key in keys {
                    #expect(try await stack.portal.message(key)["receipts"] == ["received": 12, "opened": 0])
                }
            }
        }
    }
}

/// A fleet at a stack, from its start to its report.
///
/// - Parameter identityPort: That of the identity emulator; by default the stack's.
private func withFleet(
    at stack: Stack, _ arguments: [String], identityPort: Int? = nil,
    _ body: @Sendable (RunningProgram) async throws -> Void
) async throws -> FleetCount {
    let identity = identityPort.map { "\($0)" } ?? stack.identity?.url.split(separator: ":").last.map(String.init)
    let environment = [
        "MSI_STATE_DIR": stack.stateDirectory, "MSI_GATEWAY_PORT": "\(stack.portal.port)",
        "MSI_FCM_EMULATOR_PORT": "\(stack.fcm.port)", "MSI_IDENTITY_EMULATOR_PORT": identity ?? "8444",
    ]
    let end = try await withProgram(
        "msi-phone", arguments: ["fleet"] + arguments, environment: environment
    ) { program in
        _ = try await program.line { $0.contains("\"ready\"") }
        try await body(program)
        try await program.end(within: .seconds(180))
    }
    #expect(end.exitCode == 0, "\(end.lines)")
    return try #require(FleetCount(log: end.lines), "\(end.lines)")
}

extension Stack {
    /// Runs a body while the stack's phone reports nothing: only the phones of a fleet do.
    fileprivate func withSilentPhone(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
    ) async throws {
        let phone = Portal(port: try #require(phonePort), http: portal.http, token: nil)
        #expect(try await phone.call(.PUT, "/settings", ["receipts": false]).status == 204)
        try await perform {
            try await body()
        } finally: {
            let answer = try await phone.call(.PUT, "/settings", ["receipts": true])
            #expect(answer.status == 204)
        }
    }
}

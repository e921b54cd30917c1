import Schemas
import TestSupport
import Testing

@testable import MessageStorage

/// The Alerts that phones fetch although FCM has not accepted them.
extension MessageStoreTests {
    @Test(
        "Alerts that are due and that FCM has not accepted are found, the newest first, whatever process is at work on them",
        arguments: StoreKind.allCases)
    func dueAlerts(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            func add(_ message: Message, _ change: (inout RelayRecord) -> Void = { _ in }) async throws {
                var message = message
                change(&message.relay)
                _ = try await store.insert(message)
            }
            try await add(Self.message("due", at: 5_000))
            try await add(Self.message("leased", at: 4_000, lease: Lease(owner: "o", until: 60_000)))
            try await add(Self.message("retrying", at: 3_000)) { relay in
                (relay.state, relay.attempts, relay.nextAttempt) = (.retrying, 1, 90_000)
            }
            // Its gateway's clock is ahead.
            try await add(Self.message("ahead", at: 20_000)) { $0.nextAttempt = 9_000 }
            try await add(Self.message("recent", at: 5_001))
            try await add(Self.message("scheduled", at: 2_000, sendAt: 50_000))
            try await add(Self.message("held", at: 2_000)) { $0.state = .held }
            try await add(Self.message("expired", at: 2_000, expires: 10_000))
            try await add(Self.message("silent", at: 2_000, distribution: .information))
            try await add(Self.message("accepted", at: 2_000)) { $0.accepted = 2_500 }
            for state in [RelayState.relayed, .failed, .expired, .recalled] {
                try await add(Self.message("\(state)", at: 2_000)) { ($0.state, $0.nextAttempt, $0.ended) = (state, nil, 2_500) }
            }
            let due = try await store.dueAlerts(at: 10_000, postedBy: 5_000, limit: 10)
            #expect(due.map(\.title) == ["ahead", "due", "leased", "retrying"])
            #expect(try await store.dueAlerts(at: 10_000, postedBy: 5_000, limit: 2).map(\.title) == ["ahead", "due"])
            #expect(try await store.dueAlerts(at: 10_000, postedBy: 2_999, limit: 10).map(\.title) == ["ahead"])
        }
    }

    @Test("Alerts that were recalled since a time are found, the last ones first", arguments: StoreKind.allCases)
    func recalledAlerts(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            func add(
                _ title: String, _ state: RelayState, ended: UnixMilliseconds, distribution: Distribution = .alert
            ) async throws {
                let message = Self.message(title, distribution: distribution)
                _ = try await store.insert(message)
                try await store.update(message.msiKey) { record, _ in
                    (record.state, record.nextAttempt, record.ended) = (state, nil, ended)
                }
            }
            try await add("first", .recalled, ended: 7_000)
            try await add("last", .recalled, ended: 8_000)
            try await add("before", .recalled, ended: 6_999)
            try await add("failed", .failed, ended: 9_000)
            try await add("silent", .recalled, ended: 9_000, distribution: .information)
            #expect(try await store.recalledAlerts(since: 7_000, limit: 10).map(\.title) == ["last", "first"])
            #expect(try await store.recalledAlerts(since: 7_000, limit: 1).map(\.title) == ["last"])
        }
    }

    @Test("Reports of Alerts count that phones can have without a relay", arguments: StoreKind.allCases)
    func receiptsOfFetched(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let due = Self.message("due", at: 5_000)
            let later = Self.message("later", at: 5_000, sendAt: 50_000)
            var (held, expired) = (Self.message("held", at: 5_000), Self.message("expired", at: 5_000))
            held.relay.state = .held
            (expired.relay.state, expired.relay.nextAttempt, expired.relay.ended) = (.expired, nil, 6_000)
            let all = [due, later, held, expired]
            for message in all { _ = try await store.insert(message) }
            let report = AddReceipts(installation: ObjectID(), report: 1, received: all.map(\.msiKey), opened: [])
            try await store.add([report], now: 10_000)
            let counted = try await store.receipts(of: all.map(\.msiKey))
            #expect(Set(counted.keys) == [due.msiKey, expired.msiKey])
        }
    }
}

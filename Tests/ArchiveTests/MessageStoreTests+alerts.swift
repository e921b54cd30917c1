import Schemas
import TestSupport
import Testing
import Base

@testable import Archive

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
            // Phones have its pop-up already.
            try await add(Self.message("shown", at: 2_000)) { relay in
                (relay.state, relay.attempts, relay.components[0].state) = (.retrying, 1, .accepted)
            }
            for state in [RelayState.relayed, .failed, .expired, .recalled] {
                try await add(Self.message("\(state)", at: 2_000)) { ($0.state, $0.nextAttempt, $0.ended) = (state, nil, 2_500) }
            }
            func due(
                postedBy moment: UnixMilliseconds = 5_000, limit: Int = 10,
                where isWanted: @escaping @Sendable (Message) -> Bool = { _ in true }
            ) async throws -> [String] {
                let alerts = try await store.dueAlerts(
                    at: 10_000, postedBy: moment, maxPerTopic: 10, limit: limit, where: isWanted)
                return alerts.map(\.title)
            }
            #expect(try await due() == ["ahead", "due", "leased", "retrying"])
            #expect(try await due(limit: 2) == ["ahead", "due"])
            // Others take the place of those that do not count.
            #expect(try await due(limit: 2) { $0.title != "due" } == ["ahead", "leased"])
            #expect(try await due(postedBy: 2_999) == ["ahead"])
        }
    }

    @Test("A topic with many Alerts does not hide those of the others", arguments: StoreKind.allCases)
    func dueAlertsOfTopics(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let topics = (0..<3).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
            for number in 0..<30 {
                _ = try await store.insert(
                    Self.message("noisy \(number)", at: UnixMilliseconds(rawValue: 5_000 + Int64(number)), topic: topics[0]))
            }
            _ = try await store.insert(Self.message("older", at: 2_000, topic: topics[1]))
            _ = try await store.insert(Self.message("oldest", at: 1_000, topic: topics[2]))
            // More recent than what counts.
            _ = try await store.insert(Self.message("recent", at: 9_000, topic: topics[2]))
            func due(_ limit: Int) async throws -> [String] {
                let alerts = try await store.dueAlerts(at: 10_000, postedBy: 8_000, maxPerTopic: 2, limit: limit) { _ in true }
                return alerts.map(\.title)
            }
            #expect(try await due(10) == ["noisy 29", "noisy 28", "older", "oldest"])
            #expect(try await due(3) == ["noisy 29", "noisy 28", "older"])
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
            func recalled(
                limit: Int = 10, where isWanted: @escaping @Sendable (Message) -> Bool = { _ in true }
            ) async throws -> [String] {
                try await store.recalledAlerts(since: 7_000, limit: limit, where: isWanted).map(\.title)
            }
            #expect(try await recalled() == ["last", "first"])
            #expect(try await recalled(limit: 1) == ["last"])
            #expect(try await recalled(limit: 1) { $0.title != "last" } == ["first"])
        }
    }

    @Test("Reports of Alerts count that phones can have without a relay", arguments: StoreKind.allCases)
    func receiptsOfFetched(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let due = Self.message("due", at: 5_000)
            let later = Self.message("later", at: 5_000, sendAt: 50_000)
            var (held, expired) = (Self.message("held", at: 5_000), Self.message("expired", at: 5_000))
            held.relay.state = .held
            func end(_ message: inout Message, as state: RelayState, at ended: UnixMilliseconds) {
                (message.relay.state, message.relay.nextAttempt, message.relay.ended) = (state, nil, ended)
            }
            end(&expired, as: .expired, at: 6_000)
            var early = Self.message("early", at: 5_000) { $0.delay = 2 }
            var late = Self.message("late", at: 5_000) { $0.delay = 2 }
            end(&early, as: .recalled, at: 6_000)
            end(&late, as: .recalled, at: 8_000)
            var (rejected, approved) = (Self.message("rejected", at: 5_000), Self.message("approved", at: 5_000))
            (rejected.approval, approved.approval) = (true, true)
            approved.relay.leaveTrace(.approve, by: "ann", at: 5_500)
            end(&rejected, as: .recalled, at: 6_000)
            end(&approved, as: .recalled, at: 6_000)
            rejected.relay.leaveTrace(.recall, by: "ann", at: 6_000)
            approved.relay.leaveTrace(.recall, by: "ann", at: 6_000)
            // A power cut has undone what was stored of its attempt.
            let silent = Self.message("silent", at: 5_000, distribution: .information)
            let all = [due, silent, later, held, expired, early, late, rejected, approved]
            for message in all { _ = try await store.insert(message) }
            let report = AddReceipts(installation: ObjectID(), report: 1, received: all.map(\.msiKey), opened: [])
            try await store.add([report], now: 10_000)
            let counted = try await store.receipts(of: all.map(\.msiKey))
            #expect(Set(counted.keys) == Set([due, silent, expired, late, approved].map(\.msiKey)))
        }
    }
}

import Base
import Schemas
import TestSupport
import Testing

@testable import Messaging

/// What apps show of the limits, and what a person chooses.
@Suite("Limits and choices", .timeLimit(.minutes(10)))
struct MessagingRulesTests {
    @Test("The limits are those of the operator", arguments: [true, false])
    func rules(isSet: Bool) async throws {
        let settings = [
            "MSI_MESSAGING_DAYS": "7", "MSI_MESSAGING_DIGEST_DAYS": "30", "MSI_MESSAGING_REPORT_DAYS": "31",
            "MSI_MESSAGING_PUBLISHED_DAYS": "32", "MSI_MESSAGING_POLL": "33", "MSI_MESSAGING_PER_MINUTE": "34",
            "MSI_MESSAGING_CALLS": "35", "MSI_MESSAGING_PICTURES": "36MiB",
        ]
        let chosen = MessagingRules(
            days: 7, digestDays: 30, reportDays: 31, publishedDays: 32, poll: 33, perMinute: 34, calls: 35, pictures: 36 << 20)
        let usual = MessagingRules(
            days: 28, digestDays: 90, reportDays: 90, publishedDays: 365, poll: 30, perMinute: 60, calls: nil,
            pictures: 10 << 30)
        try await RunningMessaging.with(settings: isSet ? settings : [:]) { messaging in
            let known = try await messaging.person("ann").request(ReadMessaging())
            #expect(known.rules == (isSet ? chosen : usual))
        }
    }

    @Test("Who has chosen nothing tells others what was read; a choice is one's own", arguments: StoreKind.ofRules)
    func choices(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            func readMarks() async throws -> [Bool] {
                let all = [try await ann.request(ReadMessaging()), try await bob.request(ReadMessaging())]
                return all.map(\.choices.readMarks)
            }
            #expect(try await readMarks() == [true, true])
            try await ann.request(ChooseMessaging(MessagingChoices(readMarks: false)))
            #expect(try await readMarks() == [false, true])
            try await ann.request(ChooseMessaging(MessagingChoices(readMarks: true)))
            #expect(try await readMarks() == [true, true])
        }
    }
}

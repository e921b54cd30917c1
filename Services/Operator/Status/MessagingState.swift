import Base
import Schemas
import ServiceKit

/// What `msi status` knows about the messages between persons.
typealias MessagingState = CountState<CountMessaging>

extension MessagingState {
    static func read(_ settings: SettingValues, _ health: ProductStatus.Health) async -> MessagingState {
        await read(CountMessaging(), of: .messaging, settings, health)
    }

    var lines: [String] { described("messages between persons: not known") { [$0.summary, $0.callSummary] } }
}

extension CountMessaging.Reply {
    /// Something that waits longer than this is late: what was read is removed within a minute.
    static let maxOverdue = Milliseconds.seconds(60)

    /// Whether the service is late with removing.
    var isLate: Bool { overdue > Self.maxOverdue }

    /// How many hundredths of the operator's number of calls there were in this month; `nil` without such a number.
    var callPercent: Int? {
        callLimit.map { Int(min(Double(allCalls) / Double(max($0, 1)), 10) * 100) }
    }

    var summary: String {
        let text =
            "messages between persons: \(messages) wait, or are to be removed; \(counted(reports, "open report")); "
            + "pictures take up \(megabytes(pictures)) of \(megabytes(pictureLimit))"
        return isLate ? text + "; removing is late by \(overdue.rounded)" : text
    }

    var callSummary: String {
        let text = "calls of persons in \(month): \(allCalls)"
        guard let callLimit, let callPercent else { return text }
        return "\(text) of \(callLimit) (\(callPercent) %)"
    }
}

package import Base

/// `messaging.get`: the limits that the operator has set, and what the caller has chosen. The header's `actor` is required: it
/// is the person.
package struct ReadMessaging: Command {
    package static let name = "messaging.get"

    package struct Reply: Codable, Hashable, Sendable {
        package let rules: MessagingRules
        package let choices: MessagingChoices

        package init(rules: MessagingRules, choices: MessagingChoices) {
            self.rules = rules
            self.choices = choices
        }
    }

    package init() {}
}

/// `messaging.choose`: replaces what the caller has chosen about messages. The header's `actor` is required.
package struct ChooseMessaging: Command {
    package static let name = "messaging.choose"
    package typealias Reply = MessagingChoices

    package let choices: MessagingChoices

    package init(_ choices: MessagingChoices) {
        self.choices = choices
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case choices
    }
}

/// `messaging.counts`: how much there is, for the operator and the portal. It needs no person, and names none.
package struct CountMessaging: Command {
    package static let name = "messaging.counts"

    package struct Reply: Codable, Hashable, Sendable {
        /// The messages that wait for their recipients, with those that were read and not removed yet.
        package let messages: Int
        /// The reports that are open.
        package let reports: Int
        /// The bytes that pictures take up, and how many they may.
        package let pictures: Int64
        package let pictureLimit: Int64
        /// The month in UTC, such as `2026-05`, and its calls by the names of the seed's operations and of the others.
        package let month: String
        package let calls: [String: Int64]
        /// How many calls of a month the operator wants to be warned of; absent for no limit.
        package let callLimit: Int64?
        /// When something that was to be removed should have been; absent for nothing that waits.
        package let due: UnixMilliseconds?
        package let now: UnixMilliseconds

        package init(
            messages: Int, reports: Int, pictures: Int64, pictureLimit: Int64, month: String, calls: [String: Int64],
            callLimit: Int64?, due: UnixMilliseconds?, now: UnixMilliseconds
        ) {
            self.messages = messages
            self.reports = reports
            self.pictures = pictures
            self.pictureLimit = pictureLimit
            self.month = month
            self.calls = calls
            self.callLimit = callLimit
            self.due = due
            self.now = now
        }

        private enum CodingKeys: String, CodingKey {
            case messages, reports, pictures, month, calls, due, now
            case pictureLimit = "picture_limit"
            case callLimit = "call_limit"
        }
    }

    package init() {}
}

extension CountMessaging.Reply {
    /// The calls of the month.
    package var allCalls: Int64 { calls.values.reduce(0) { $0.adding($1) } }
    /// For how long something has waited to be removed; 0 for nothing.
    package var overdue: Milliseconds { max(.zero, now - (due ?? now)) }
}

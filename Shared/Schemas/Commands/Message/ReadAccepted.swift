package import Base

/// `message.since`: the messages of topics whose data FCM has accepted, in acceptance order. Phones fetch what FCM did not
/// bring. Beside the last page are the Alerts of which FCM has accepted nothing in time: they reach running apps during an outage of FCM.
///
/// A message may be on more than one page; phones drop repeats by the `msi_key`. None is left out.
package struct ReadAccepted: Command, Checked, Hashable {
    package static let name = "message.since"

    package struct Reply: Codable, Hashable, Sendable {
        package let messages: [PhoneMessage]
        /// Where the next page begins. At the end it is the place of the last message that was accepted more than a minute ago, of any
        /// topic: messages that are being stored at this moment come with the next page, and others may come again. So it may be before
        /// the `next` of the page before.
        package let next: PageCursor
        /// Alerts of these topics that are due but not yet accepted by FCM in any part, oldest first. Absent if there are none, or if the
        /// page is full (``maxPerPage``). They do not advance ``next``: they come again in a page once FCM has accepted them.
        package var waiting: [PhoneMessage]?
        /// Alerts of these topics that were recalled within ``reach``, after they were due and before FCM was known to have accepted any of
        /// it. A phone that has one removes it, whichever way it came and whether or not the student keeps it, and drops later copies.
        /// Absent as ``waiting`` is.
        package var recalled: [ObjectID]?

        package init(
            messages: [PhoneMessage], next: PageCursor, waiting: [PhoneMessage]? = nil, recalled: [ObjectID]? = nil
        ) {
            self.messages = messages
            self.next = next
            self.waiting = waiting
            self.recalled = recalled
        }
    }

    /// The maximum number of messages of a page.
    package static let maxPerPage = 100
    /// The maximum number of ``Reply/waiting`` Alerts, of all topics together: the newest ones. The same of ``Reply/recalled`` ones.
    package static let maxAlerts = 100
    /// The maximum number of ``Reply/waiting`` Alerts of a topic, so that one topic does not hide the others.
    package static let maxWaitingPerTopic = 20
    /// The maximum number of topics: as many as fit into a request's body.
    package static let maxTopics = 800
    /// How far back messages can be fetched. Phones show a week.
    package static let reach: Milliseconds = 8 * 86_400_000

    /// 1 to ``maxTopics``.
    package let topics: [TopicKey]
    /// The `next` of the previous page; `nil` for all within ``reach``.
    package let after: PageCursor?

    package init(topics: [TopicKey], after: PageCursor? = nil) {
        self.topics = topics
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case topics, after
    }

    package func check() throws(SchemaViolation) {
        guard (1...Self.maxTopics).contains(topics.count) else {
            throw SchemaViolation(CodingKeys.topics, "expected 1 to \(Self.maxTopics) topic keys, found \(topics.count)")
        }
    }
}

package import JSON

/// `topic.list`: the topics that FCM has a phone subscribed to.
package struct ListTopics: Command, Checked, Hashable {
    package static let name = "topic.list"

    /// `{"topics":["…"]}`, sorted. They include topics that are in no cube.
    package struct Reply: Codable, Hashable, Sendable {
        package let topics: [String]

        package init(topics: [String]) {
            self.topics = topics
        }
    }

    /// The phone's registration token: only ASCII letters, digits and `:_-`.
    package let token: String
    /// The Firebase project that the phone is registered with; by default, each of the relay's projects is asked.
    package let project: String?

    package init(token: String, project: String? = nil) {
        self.token = token
        self.project = project
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case token, project
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.tokenInURL.check(token, CodingKeys.token)
        try TextLimits.project.check(project, CodingKeys.project)
    }
}

extension TextLimits {
    /// A registration token as a part of a URL.
    static let tokenInURL = TextLimits(max: 1_024, lettersDigitsAnd: ":_-")
}

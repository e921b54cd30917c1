import Base

/// `subject.find`: the subject with a topic key, and the names of the subject, its area and its channel. It does not read the
/// whole cube. A topic key without a subject is `not_found`.
package struct FindSubject: Command {
    package static let name = "subject.find"

    package struct Reply: Codable, Hashable, Sendable {
        /// The subject is at least as new as this version of the cube.
        package let version: CubeVersion
        package let subject: Subject
        package let names: CubeNames

        package init(version: CubeVersion, subject: Subject, names: CubeNames) {
            self.version = version
            self.subject = subject
            self.names = names
        }
    }

    package let topicKey: TopicKey

    package init(topicKey: TopicKey) {
        self.topicKey = topicKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case topicKey = "topic_key"
    }
}

import JSON

/// `subject.find`: the subject that a topic key names, and what it and its channel and area are called. It answers without
/// reading the whole cube, however large that is. A topic key that names no subject is `not_found`.
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

    package init(from decoder: any Decoder) throws {
        topicKey = try StrictFields(of: decoder, as: CodingKeys.self).value(.topicKey)
    }
}

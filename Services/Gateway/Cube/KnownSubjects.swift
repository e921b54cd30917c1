import Schemas

/// The subjects that messages were posted to lately, as they are in one version of the cube.
struct KnownSubjects: Sendable {
    private var version: CubeVersion?
    private var subjects: [TopicKey: FindSubject.Reply] = [:]

    subscript(topicKey: TopicKey) -> FindSubject.Reply? {
        subjects[topicKey]
    }

    /// Adds one, and forgets those of another version.
    mutating func add(_ found: FindSubject.Reply) {
        if found.version != version { subjects = [:] }
        version = found.version
        subjects[found.subject.topicKey] = found
    }
}

import Schemas

/// The subjects of recent posts, in one version of the cube.
struct KnownSubjects: Sendable {
    private var version: CubeVersion?
    private var subjects: [TopicKey: FindSubject.Reply] = [:]

    subscript(topicKey: TopicKey) -> FindSubject.Reply? {
        subjects[topicKey]
    }

    /// Adds a subject, and removes those of other versions.
    mutating func add(_ found: FindSubject.Reply) {
        if found.version != version { subjects = [:] }
        version = found.version
        subjects[found.subject.topicKey] = found
    }
}

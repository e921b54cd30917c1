import Schemas

/// The Firebase projects that the relay sends by, and which channel's messages go by which.
struct Projects: Sendable {
    let all: [Project]
    private let standard: Project
    private let byID: [String: Project]
    private let byChannel: [ObjectID: Project]

    /// - Parameters:
    ///   - standard: For all channels but those that have one of their own.
    ///   - others: Each with the channels that are its.
    init(standard: Project, others: [(project: Project, channels: [ObjectID])] = []) {
        self.standard = standard
        all = [standard] + others.map(\.project)
        byID = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
        byChannel = Dictionary(others.flatMap { other in other.channels.map { ($0, other.project) } }) { first, _ in first }
    }

    /// The way to FCM of each project, as parts of the relay's health: `fcm` is that of the settings.
    var health: [String: PartHealth] {
        var parts = ["fcm": standard.health]
        for project in all.dropFirst() { parts["fcm/\(project.id)"] = project.health }
        return parts
    }

    /// Refuses a command for a project that nothing may be sent by now, if no other one's messages may go out either: then this
    /// relay is of no use to anybody for a while, and another one may be.
    ///
    /// - Throws: ``CommandFailure`` `unavailable`.
    func checkCircuit(of project: Project, for command: RelayMessage) throws(CommandFailure) {
        // What FCM has is known here and nowhere else.
        guard let reason = project.openCircuit, all.allSatisfy({ $0.openCircuit != nil }), !project.knows(command) else { return }
        throw CommandFailure(.unavailable, "CIRCUIT_OPEN: \(reason)")
    }

    /// - Parameters:
    ///   - id: The project that a command asks for, if it asks for one.
    ///   - topicKey: The topic, whose channel decides otherwise.
    /// - Throws: ``CommandFailure`` `not_found`.
    func project(_ id: String?, for topicKey: TopicKey) throws(CommandFailure) -> Project {
        guard let id else { return byChannel[topicKey.channel] ?? standard }
        guard let project = byID[id] else {
            throw CommandFailure(.notFound, "the relay has no project \"\(id.prefix(60))\"", field: "project")
        }
        return project
    }
}

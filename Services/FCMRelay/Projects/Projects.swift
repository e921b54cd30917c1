import Schemas

/// The relay's Firebase projects, and the mapping from channels to projects.
struct Projects: Sendable {
    let all: [Project]
    private let standard: Project
    private let byID: [String: Project]
    private let byChannel: [ObjectID: Project]

    /// - Parameters:
    ///   - standard: The project of all other channels.
    ///   - others: Further projects with their channels.
    init(standard: Project, others: [(project: Project, channels: [ObjectID])] = []) {
        self.standard = standard
        all = [standard] + others.map(\.project)
        byID = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
        byChannel = Dictionary(others.flatMap { other in other.channels.map { ($0, other.project) } }) { first, _ in first }
    }

    /// Each project's connection to FCM as a part of the relay's health: `fcm` is the project of the settings.
    var health: [String: PartHealth] {
        var parts = ["fcm": standard.health]
        for project in all.dropFirst() { parts["fcm/\(project.id)"] = project.health }
        return parts
    }

    /// Refuses a command if the circuits of all projects are open. Then this relay cannot send for a while, but another one may.
    ///
    /// - Parameter isKnown: Whether the project's history has a part of this command.
    /// - Throws: ``CommandFailure`` `unavailable`.
    func checkCircuit(of project: Project, isKnown: @autoclosure () -> Bool) throws(CommandFailure) {
        // Only this relay knows which components FCM has accepted.
        guard let reason = project.openCircuit, all.allSatisfy({ $0.openCircuit != nil }), !isKnown() else { return }
        throw CommandFailure(.unavailable, "CIRCUIT_OPEN: \(reason)")
    }

    /// - Parameters:
    ///   - id: The project that a command names, if any.
    ///   - topicKey: The topic, whose channel decides if `id` is `nil`; `nil` for a push to anything but a topic of the cube.
    /// - Throws: ``CommandFailure`` `not_found`.
    func project(_ id: String?, for topicKey: TopicKey?) throws(CommandFailure) -> Project {
        guard let id else { return topicKey.flatMap { byChannel[$0.channel] } ?? standard }
        guard let project = byID[id] else {
            throw CommandFailure(.notFound, "the relay has no project \"\(id.prefix(60))\"", field: "project")
        }
        return project
    }
}

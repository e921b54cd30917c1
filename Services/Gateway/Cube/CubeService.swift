import CommandBus
import Schemas

extension FindSubject.Reply: Versioned {}

/// The gateway's access to the cube service. It forwards commands, and answers reads from copies while they are fresh.
///
/// Only `GET /channel` reads the whole cube. A post needs one subject, and asks for it by its topic key.
struct CubeService: Sendable {
    private let client: CommandClient
    private let version: FollowedVersion<CubeChanged>
    private let copy: FollowedCopy<CubeCopy, CubeChanged>
    private let subjects: FollowedParts<TopicKey, FindSubject.Reply, CubeChanged>

    init(client: CommandClient, version: FollowedVersion<CubeChanged>) {
        self.client = client
        self.version = version
        copy = FollowedCopy(of: version) { try await client.readCube(known: $0) }
        subjects = FollowedParts(of: version) { topicKey throws(CommandFailure) in
            try await client.request(FindSubject(topicKey: topicKey))
        }
    }

    /// The current cube. It may lag by a moment.
    ///
    /// - Throws: ``CommandFailure`` if there is no fresh copy and the cube service does not answer.
    func current() async throws -> CubeCopy {
        try await copy.current()
    }

    /// The current subject of a topic key; `nil` if there is none. It may lag by a moment.
    ///
    /// - Throws: ``CommandFailure`` if no fresh subject is known and the cube service does not answer.
    func subject(of topicKey: TopicKey) async throws -> FindSubject.Reply? {
        try await subjects.current(topicKey)
    }

    /// Makes a change.
    func edit<Edit: Command, Value>(
        _ command: Edit, for caller: RequestContext
    ) async throws -> CubeEdit<Value> where Edit.Reply == CubeEdit<Value> {
        let edit = try await client.request(command, context: caller)
        version.edited(edit.version)
        return edit
    }
}

import Schemas
import Store
import Testing

@testable import Cube

/// Edits by the account of the tests.
extension CubeStore {
    @discardableResult
    func edit<Edit: RecordedEdit>(_ command: Edit) async throws -> CubeEdit<Edit.Value> {
        try await edit(command, by: .ann).reply
    }

    /// Makes an edit of any kind.
    func make(_ command: any RecordedEdit) async throws {
        func make<Edit: RecordedEdit>(_ command: Edit) async throws { try await edit(command) }
        try await make(command)
    }

    /// Fills an empty store, whatever the size limit is.
    func fill(_ snapshot: CubeSnapshot) async throws {
        try await storage.transaction { transaction in
            for (index, channel) in snapshot.channels.enumerated() {
                try transaction.insert(
                    StoredChannel(channel, version: snapshot.version, position: Int64(index)), into: CubeCollections.channels)
            }
            let measure = try transaction.measureCube()
            let state = CubeState(id: CubeState.id, version: snapshot.version, measure: measure)
            try transaction.overwrite(with: state, in: CubeCollections.state)
        }
    }

    /// The entries for the audit log.
    var audit: AuditQueue { AuditQueue(of: storage) }

    /// The failure of an edit that must be refused.
    func refusal(of command: any RecordedEdit) async -> CommandFailure? {
        await #expect(throws: CommandFailure.self, "\(command)") { try await make(command) }
    }

    /// A channel with an area with a subject.
    func build() async throws -> TopicKey {
        let channel = try await edit(AddChannel(channel: .named("C"))).value.id
        let area = try await edit(AddArea(channelID: channel, area: .named("A"))).value.id
        return try await edit(AddSubject(channelID: channel, areaID: area, subject: .storms)).value.topicKey
    }
}

extension AuditAuthor {
    static let ann = AuditAuthor(actor: "ann", address: "192.0.2.7")
}

extension NamedDraft {
    static func named(_ name: String, desc: String = "") -> NamedDraft { NamedDraft(name: name, desc: desc) }
}

extension SubjectDraft {
    static let storms = SubjectDraft(name: "Storms", desc: "Closures", opt: SubjectOptions(level: .forced, distribution: .alert))
}

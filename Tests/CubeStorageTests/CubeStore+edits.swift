import Schemas
import Testing

@testable import CubeStorage

/// Edits by the account of the tests.
extension CubeStore {
    func add(_ command: AddChannel) async throws -> CubeEdit<Channel> { try await add(command, by: .ann) }
    func update(_ command: UpdateChannel) async throws -> CubeEdit<Channel> { try await update(command, by: .ann) }
    func delete(_ command: DeleteChannel) async throws -> CubeEdit<Done> { try await delete(command, by: .ann) }
    func add(_ command: AddArea) async throws -> CubeEdit<Area> { try await add(command, by: .ann) }
    func update(_ command: UpdateArea) async throws -> CubeEdit<Area> { try await update(command, by: .ann) }
    func delete(_ command: DeleteArea) async throws -> CubeEdit<Done> { try await delete(command, by: .ann) }
    func add(_ command: AddSubject) async throws -> CubeEdit<Subject> { try await add(command, by: .ann) }
    func update(_ command: UpdateSubject) async throws -> CubeEdit<Subject> { try await update(command, by: .ann) }
    func delete(_ command: DeleteSubject) async throws -> CubeEdit<Done> { try await delete(command, by: .ann) }

    /// Makes an edit of any kind.
    func edit(_ command: any Command) async throws {
        switch command {
        case let command as AddChannel: _ = try await add(command)
        case let command as UpdateChannel: _ = try await update(command)
        case let command as DeleteChannel: _ = try await delete(command)
        case let command as AddArea: _ = try await add(command)
        case let command as UpdateArea: _ = try await update(command)
        case let command as DeleteArea: _ = try await delete(command)
        case let command as AddSubject: _ = try await add(command)
        case let command as UpdateSubject: _ = try await update(command)
        case let command as DeleteSubject: _ = try await delete(command)
        case let command as SetAccess: _ = try await set(command, by: .ann)
        case let command as SetOrder: _ = try await set(command, by: .ann)
        case let command as SetApproval: _ = try await set(command, by: .ann)
        default: Issue.record("\(command) is no edit")
        }
    }

    /// The failure of an edit that must be refused.
    func refusal(of command: any Command) async -> CommandFailure? {
        await #expect(throws: CommandFailure.self, "\(command)") { try await edit(command) }
    }

    /// A channel with an area with a subject.
    func build() async throws -> TopicKey {
        let channel = try await add(AddChannel(channel: .named("C"))).value.id
        let area = try await add(AddArea(channelID: channel, area: .named("A"))).value.id
        return try await add(AddSubject(channelID: channel, areaID: area, subject: .storms)).value.topicKey
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

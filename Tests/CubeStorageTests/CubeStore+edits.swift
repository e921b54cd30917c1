import Schemas

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
}

extension AuditAuthor {
    static let ann = AuditAuthor(actor: "ann", address: "192.0.2.7")
}

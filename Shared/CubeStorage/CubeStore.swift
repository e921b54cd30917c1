package import Schemas

/// The store of the information cube: channels, areas and subjects (the seed's Channel, Area and Subject DAO).
///
/// A change writes only the changed object, so concurrent changes of two administrators are not lost. In the same transaction it
/// increases the cube's version, and stores an entry for the audit log.
///
/// Every method throws ``CommandFailure``:
/// - `not_found` for an object that does not exist,
/// - `conflict` for an edit of an object that was changed after `unchangedSince`,
/// - `storage_full` for a change that makes the cube larger than its ``CubeSizeLimit``,
/// - `unavailable` if the database is unreachable.
package protocol CubeStore: MovableAuditSource, CheckedStore {
    /// The version of the latest change; 0 for an unchanged cube.
    func version() async throws -> CubeVersion
    /// The same for a caller that asks again and again. The database is only read if it may have changed.
    func repeatedVersion() async throws -> CubeVersion
    func snapshot() async throws -> CubeSnapshot
    /// The subject with a topic key. The rest of the cube is not read.
    func find(_ command: FindSubject) async throws -> FindSubject.Reply

    /// Checks whether another program has changed the cube, and counts its change as a new version. If not, waits until the next
    /// check is due.
    ///
    /// - Returns: The version of the change, if there was one.
    func nextForeignEdit() async throws -> CubeVersion?

    func add(_ command: AddChannel, by author: AuditAuthor) async throws -> CubeEdit<Channel>
    func update(_ command: UpdateChannel, by author: AuditAuthor) async throws -> CubeEdit<Channel>
    func delete(_ command: DeleteChannel, by author: AuditAuthor) async throws -> CubeEdit<Done>

    func add(_ command: AddArea, by author: AuditAuthor) async throws -> CubeEdit<Area>
    func update(_ command: UpdateArea, by author: AuditAuthor) async throws -> CubeEdit<Area>
    func delete(_ command: DeleteArea, by author: AuditAuthor) async throws -> CubeEdit<Done>

    func add(_ command: AddSubject, by author: AuditAuthor) async throws -> CubeEdit<Subject>
    func update(_ command: UpdateSubject, by author: AuditAuthor) async throws -> CubeEdit<Subject>
    func delete(_ command: DeleteSubject, by author: AuditAuthor) async throws -> CubeEdit<Done>

    /// Replaces a list.
    func set(_ command: SetAccess, by author: AuditAuthor) async throws -> CubeEdit<AccessList>
    /// Sorts channels, areas or subjects. The command must name exactly those that are there; otherwise it is a `conflict`.
    func set(_ command: SetOrder, by author: AuditAuthor) async throws -> CubeEdit<CubeOrder>
    func set(_ command: SetApproval, by author: AuditAuthor) async throws -> CubeEdit<Approval>

    /// Fills an unchanged store with the cube of another store, including its identifiers and its version. All objects count as
    /// changed in that version. Filling it with the same cube again changes nothing. The size limit does not apply.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if the store contains another cube.
    func restore(_ snapshot: CubeSnapshot) async throws

    /// Waits for running operations, and closes the database. Do not use the store afterwards.
    func close() async throws
}

extension CubeStore {
    package func check() async throws { _ = try await version() }
}

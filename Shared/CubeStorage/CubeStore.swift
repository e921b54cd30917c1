package import Schemas

/// Where the information cube is kept: channels, their areas, their subjects (the seed's Channel, Area and Subject DAO).
///
/// Each change touches only what it changes, so that two administrators at work at once never lose one another's. It makes
/// the cube's version greater, and both are stored together or not at all.
///
/// Every method throws ``CommandFailure``: `not_found` for something that is not there (any more), `conflict` for an edit of
/// something that was changed after `unchangedSince`, `storage_full` for a change that makes the cube larger than its
/// ``CubeSizeLimit``, `unavailable` when the database is away.
package protocol CubeStore: Sendable {
    /// The version of the latest change; 0 for a cube that was never changed.
    func version() async throws -> CubeVersion
    func snapshot() async throws -> CubeSnapshot
    /// The subject that a topic key names; the rest of the cube is not read.
    func find(_ command: FindSubject) async throws -> FindSubject.Reply

    /// Looks whether another program has changed the cube past the service, and counts its change; where none has, waits until it
    /// is time to look again.
    ///
    /// - Returns: The version that stands for the change.
    func nextForeignEdit() async throws -> CubeVersion?

    func add(_ command: AddChannel) async throws -> CubeEdit<Channel>
    func update(_ command: UpdateChannel) async throws -> CubeEdit<Channel>
    func delete(_ command: DeleteChannel) async throws -> CubeEdit<Done>

    func add(_ command: AddArea) async throws -> CubeEdit<Area>
    func update(_ command: UpdateArea) async throws -> CubeEdit<Area>
    func delete(_ command: DeleteArea) async throws -> CubeEdit<Done>

    func add(_ command: AddSubject) async throws -> CubeEdit<Subject>
    func update(_ command: UpdateSubject) async throws -> CubeEdit<Subject>
    func delete(_ command: DeleteSubject) async throws -> CubeEdit<Done>

    /// Fills a store that was never changed with a cube from another one, its identifiers and its version included: everything
    /// counts as changed in that version. Filling it with the same cube again changes nothing. The cube may be of any size: one that is
    /// there already can be moved.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` when something else is in it.
    func restore(_ snapshot: CubeSnapshot) async throws

    /// Lets what has begun end, and closes the database; nothing may use the store afterwards.
    func close() async throws
}

import CommandBus
import CubeStorage
import Schemas

extension CommandRouter {
    /// The commands of the cube service.
    ///
    /// - Parameter parts: The states of the service's dependencies.
    static func cube(
        store: any CubeStore, announcer: RepeatedEvent<CubeChanged>, parts: @escaping @Sendable () -> [String: PartHealth]
    ) -> CommandRouter {
        /// Announces a change before the author gets the answer.
        @Sendable func announced<Value>(_ edit: CubeEdit<Value>) -> CubeEdit<Value> {
            announcer.announce(CubeChanged(version: edit.version))
            return edit
        }

        /// Refuses a version that the cube does not have yet. The version only grows, so it may be asked for before the change.
        @Sendable func checked<Edit: BoundCubeEdit>(_ edit: Edit) async throws -> Edit {
            guard let known = edit.unchangedSince else { return edit }
            let version = try await store.version()
            guard known <= version else {
                throw CommandFailure(.conflict, "the cube has version \(version), and not yet version \(known)")
            }
            return edit
        }

        var router = CommandRouter(stores: [store], parts: { parts() })
        let reader = CubeReader(store: store)
        router.on(ReadCube.name, of: ReadCube.self) { payload, _ in try await reader.read(ReadCube(payload: payload)) }
        router.on(ReadCubePage.self) { command, _ in try await reader.read(command) }
        router.on(FindSubject.self) { command, _ in try await store.find(command) }
        router.on(AddChannel.self) { announced(try await store.add($0, by: $1.author)) }
        router.on(UpdateChannel.self) { announced(try await store.update(checked($0), by: $1.author)) }
        router.on(DeleteChannel.self) { announced(try await store.delete(checked($0), by: $1.author)) }
        router.on(AddArea.self) { announced(try await store.add($0, by: $1.author)) }
        router.on(UpdateArea.self) { announced(try await store.update(checked($0), by: $1.author)) }
        router.on(DeleteArea.self) { announced(try await store.delete(checked($0), by: $1.author)) }
        router.on(AddSubject.self) { announced(try await store.add($0, by: $1.author)) }
        router.on(UpdateSubject.self) { announced(try await store.update(checked($0), by: $1.author)) }
        router.on(DeleteSubject.self) { announced(try await store.delete(checked($0), by: $1.author)) }
        router.on(SetAccess.self) { announced(try await store.set(checked($0), by: $1.author)) }
        router.on(SetOrder.self) { announced(try await store.set(checked($0), by: $1.author)) }
        router.on(SetApproval.self) { announced(try await store.set(checked($0), by: $1.author)) }
        return router
    }
}

/// An edit that may be bound to the version of the cube that its author has read.
private protocol BoundCubeEdit: Sendable {
    var unchangedSince: CubeVersion? { get }
}

extension UpdateChannel: BoundCubeEdit {}
extension DeleteChannel: BoundCubeEdit {}
extension UpdateArea: BoundCubeEdit {}
extension DeleteArea: BoundCubeEdit {}
extension UpdateSubject: BoundCubeEdit {}
extension DeleteSubject: BoundCubeEdit {}
extension SetAccess: BoundCubeEdit {}
extension SetOrder: BoundCubeEdit {}
extension SetApproval: BoundCubeEdit {}

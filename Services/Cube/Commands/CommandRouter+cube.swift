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

        var router = CommandRouter(stores: [store], parts: { parts() })
        let reader = CubeReader(store: store)
        router.on(ReadCube.name, of: ReadCube.self) { payload, _ in try await reader.read(ReadCube(payload: payload)) }
        router.on(ReadCubePage.self) { command, _ in try await reader.read(command) }
        router.on(FindSubject.self) { command, _ in try await store.find(command) }
        router.on(AddChannel.self) { announced(try await store.add($0, by: $1.author)) }
        router.on(UpdateChannel.self) { announced(try await store.update($0, by: $1.author)) }
        router.on(DeleteChannel.self) { announced(try await store.delete($0, by: $1.author)) }
        router.on(AddArea.self) { announced(try await store.add($0, by: $1.author)) }
        router.on(UpdateArea.self) { announced(try await store.update($0, by: $1.author)) }
        router.on(DeleteArea.self) { announced(try await store.delete($0, by: $1.author)) }
        router.on(AddSubject.self) { announced(try await store.add($0, by: $1.author)) }
        router.on(UpdateSubject.self) { announced(try await store.update($0, by: $1.author)) }
        router.on(DeleteSubject.self) { announced(try await store.delete($0, by: $1.author)) }
        router.on(SetAccess.self) { announced(try await store.set($0, by: $1.author)) }
        router.on(SetOrder.self) { announced(try await store.set($0, by: $1.author)) }
        router.on(SetApproval.self) { announced(try await store.set($0, by: $1.author)) }
        return router
    }
}

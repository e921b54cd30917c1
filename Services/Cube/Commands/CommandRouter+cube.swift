import CommandBus
import CubeStorage
import Schemas

extension CommandRouter {
    /// The commands of the cube service.
    static func cube(store: any CubeStore, announcer: CubeAnnouncer) -> CommandRouter {
        /// Announces a change before the author gets the answer.
        @Sendable func announced<Value>(_ edit: CubeEdit<Value>) -> CubeEdit<Value> {
            announcer.announce(edit.version)
            return edit
        }

        var router = CommandRouter { _ = try await store.version() }
        let reader = CubeReader(store: store)
        router.on(ReadCube.name) { payload, _ in try await reader.read(ReadCube(payload: payload)) }
        router.on(ReadCubePage.self) { command, _ in try await reader.read(command) }
        router.on(FindSubject.self) { command, _ in try await store.find(command) }
        router.on(AddChannel.self) { command, _ in announced(try await store.add(command)) }
        router.on(UpdateChannel.self) { command, _ in announced(try await store.update(command)) }
        router.on(DeleteChannel.self) { command, _ in announced(try await store.delete(command)) }
        router.on(AddArea.self) { command, _ in announced(try await store.add(command)) }
        router.on(UpdateArea.self) { command, _ in announced(try await store.update(command)) }
        router.on(DeleteArea.self) { command, _ in announced(try await store.delete(command)) }
        router.on(AddSubject.self) { command, _ in announced(try await store.add(command)) }
        router.on(UpdateSubject.self) { command, _ in announced(try await store.update(command)) }
        router.on(DeleteSubject.self) { command, _ in announced(try await store.delete(command)) }
        return router
    }
}

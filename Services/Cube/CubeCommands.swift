import Base
import Bus
import FoundationEssentials
import Schemas
import Store

extension CommandRouter {
    /// The commands of the cube service.
    ///
    /// - Parameter parts: The states of the service's dependencies.
    static func cube(
        store: CubeStore, announcer: RepeatedEvent<CubeChanged>, parts: @escaping @Sendable () -> [String: PartHealth]
    ) -> CommandRouter {
        var router = CommandRouter(stores: [store.storage], parts: { parts() })
        let reader = CubeReader(store: store)
        router.on(ReadCube.name, of: ReadCube.self) { payload, _ in try await reader.read(ReadCube(payload: payload)) }
        router.on(ReadCubePage.self) { command, _ in try await reader.read(command) }
        router.on(FindSubject.self) { command, _ in try await store.find(command) }
        router.edit(store, announcer)
        return router
    }

    /// The commands that edit the cube.
    mutating func edit(_ store: CubeStore, _ announcer: RepeatedEvent<CubeChanged>) {
        func serve<Edit: RecordedEdit>(_ edit: Edit.Type) {
            on(edit) { command, context in
                let (reply, event) = try await store.edit(command, by: context.author)
                // Copies are told before the author gets the answer. Of edits that are committed together, they may hear in any order.
                announcer.announce(try event.fitting)
                return reply
            }
        }
        serve(AddChannel.self)
        serve(UpdateChannel.self)
        serve(DeleteChannel.self)
        serve(AddArea.self)
        serve(UpdateArea.self)
        serve(DeleteArea.self)
        serve(AddSubject.self)
        serve(UpdateSubject.self)
        serve(DeleteSubject.self)
        serve(MoveSubject.self)
        serve(SetAccess.self)
        serve(SetOrder.self)
        serve(SetApproval.self)
    }
}

extension CubeChanged {
    /// The event without the edit if it is too large with it.
    fileprivate var fitting: CubeChanged {
        get throws {
            let size = try JSONCoder.encode(self).count
            return size <= EventLimits().maxPayloadBytes ? self : CubeChanged(version: version, digest: digest)
        }
    }
}

/// The maximum size of the cube (``CubeSize``).
struct CubeSizeLimit: Hashable, Sendable {
    let bytes: Int64

    /// Refuses a change that makes the cube larger than the limit. A change that makes it smaller is always allowed, even if the
    /// cube is still too large afterwards.
    ///
    /// - Parameters:
    ///   - size: The size before the change.
    ///   - growth: The change's growth; negative if it makes the cube smaller.
    /// - Throws: ``CommandFailure`` with status `storage_full`.
    func check(size: Int64, growth: Int64) throws(CommandFailure) {
        guard growth > 0, size + growth > bytes else { return }
        throw CommandFailure(
            .storageFull,
            "the information cube would have \(size + growth) bytes, and may have \(bytes) (MSI_CUBE_SIZE_LIMIT); delete or shorten "
                + "something in it, or raise the limit; nothing was changed")
    }
}

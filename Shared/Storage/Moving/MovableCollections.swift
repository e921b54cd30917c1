/// All stores of collections, as registered in the source database (``StoreRegister``). A new store needs no line here. Documents
/// are moved as stored, with fields that no type knows.
package struct MovableCollections: MovableStore {
    package init() {}

    package var requiredFiles: [String] { [] }

    package func open(_ places: MovePlaces) async throws -> any StoreMove {
        let sides = places.sides(
            sqlite: CollectionsSide.files(in: places.folder), mongodb: await CollectionsSide.mongodb(at: places.url))
        return CollectionsMove(source: sides.source, target: sides.target, otherTarget: places.otherTarget)
    }
}

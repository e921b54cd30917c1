/// All stores of collections, by what they have registered in the database that they are moved from (``StoreRegister``): a new one needs
/// no line here. Documents are moved as they are stored, with fields that no type knows.
package struct MovableCollections: MovableStore {
    package init() {}

    package var requiredFiles: [String] { [] }

    package func open(_ places: MovePlaces) async throws -> any StoreMove {
        let sides = places.sides(
            sqlite: CollectionsSide.files(in: places.folder), mongodb: await CollectionsSide.mongodb(at: places.url))
        return CollectionsMove(source: sides.source, target: sides.target, otherTarget: places.otherTarget)
    }
}

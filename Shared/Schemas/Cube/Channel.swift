/// A channel: a document of the `icube` collection, with its areas and their subjects inside it (seed, "Schema").
package struct Channel: Codable, Hashable, Sendable, Identifiable {
    package var id: ObjectID
    package var name: String
    package var desc: String
    /// The accounts that may send to its subjects (``SetAccess``). If no list on the path of a subject names anyone, every
    /// communicator may.
    package var access: [String]
    package var areas: [Area]

    private enum CodingKeys: String, CodingKey {
        case id = "_id"
        case name, desc, access, areas
    }

    package init(id: ObjectID, name: String, desc: String, access: [String] = [], areas: [Area] = []) {
        self.id = id
        self.name = name
        self.desc = desc
        self.access = access
        self.areas = areas
    }
}

/// An area of a channel: `channel.areas[i]` (seed, "Schema").
package struct Area: Codable, Hashable, Sendable, Identifiable {
    package var id: ObjectID
    package var name: String
    package var desc: String
    /// The accounts that may send to its subjects, as for ``Channel/access``.
    package var access: [String]
    package var subjects: [Subject]

    package init(id: ObjectID, name: String, desc: String, access: [String] = [], subjects: [Subject] = []) {
        self.id = id
        self.name = name
        self.desc = desc
        self.access = access
        self.subjects = subjects
    }
}

import FoundationEssentials
import Schemas

/// The gateway's copy of the cube, ready to be served and looked into.
struct CubeCopy: Sendable {
    /// Where a topic leads.
    struct Entry: Sendable {
        let subject: Subject
        let names: CubeNames
    }

    let version: CubeVersion
    /// All channels, as `GET /channel` answers them.
    let json: Data
    private let entries: [TopicKey: Entry]

    init(_ snapshot: CubeSnapshot) throws {
        version = snapshot.version
        json = try SchemaJSON.encode(snapshot.channels)
        var entries: [TopicKey: Entry] = [:]
        for channel in snapshot.channels {
            for area in channel.areas {
                for subject in area.subjects {
                    let names = CubeNames(channel: channel.name, area: area.name, subject: subject.name)
                    entries[subject.topicKey] = Entry(subject: subject, names: names)
                }
            }
        }
        self.entries = entries
    }

    subscript(topicKey: TopicKey) -> Entry? {
        entries[topicKey]
    }
}

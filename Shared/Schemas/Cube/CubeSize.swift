import Base

/// The size of the cube, or of a part of it: the bytes of its JSON. Each channel, area and subject counts with the comma after
/// it. So a change adds or subtracts the size of the changed object, and nothing else must be measured.
package enum CubeSize {
    package static func of(_ channels: [Channel]) throws -> Int64 {
        try channels.reduce(0) { try $0 + of($1) }
    }

    package static func of(_ channel: Channel) throws -> Int64 {
        try channel.areas.reduce(own(channel.withoutAreas)) { try $0 + of($1) }
    }

    package static func of(_ area: Area) throws -> Int64 {
        try area.subjects.reduce(own(area.withoutSubjects)) { try $0 + of($1) }
    }

    package static func of(_ subject: Subject) throws -> Int64 {
        try own(subject)
    }

    private static func own(_ value: some Encodable) throws -> Int64 {
        Int64(try JSONCoder.encode(value).count) + 1
    }
}

extension Channel {
    /// The size of the channel without its areas.
    package var withoutAreas: Channel {
        Channel(id: id, name: name, desc: desc, access: access)
    }
}

extension Area {
    /// The size of the area without its subjects.
    package var withoutSubjects: Area {
        Area(id: id, name: name, desc: desc, access: access)
    }
}

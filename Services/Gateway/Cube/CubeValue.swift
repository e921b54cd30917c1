import Schemas

/// What the answer to an edit of the cube contains.
protocol CubeValue: Codable, Hashable, Sendable {
    /// The same with empty access lists, for callers who may not see who is in them.
    var withoutAccess: Self { get }
}

extension Channel: CubeValue {
    var withoutAccess: Channel {
        var channel = self
        channel.access = []
        channel.areas = areas.map(\.withoutAccess)
        return channel
    }
}

extension Area: CubeValue {
    var withoutAccess: Area {
        var area = self
        area.access = []
        area.subjects = subjects.map(\.withoutAccess)
        return area
    }
}

extension Subject: CubeValue {
    var withoutAccess: Subject {
        var subject = self
        subject.access = []
        return subject
    }
}

/// The caller has just sent the list.
extension AccessList: CubeValue {
    var withoutAccess: AccessList { self }
}

extension CubeOrder: CubeValue {
    var withoutAccess: CubeOrder { self }
}

extension Approval: CubeValue {
    var withoutAccess: Approval { self }
}

extension Done: CubeValue {
    var withoutAccess: Done { self }
}

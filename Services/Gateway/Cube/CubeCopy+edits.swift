import Schemas

/// An edit of the cube through this gateway, with the cube service's answer.
struct AppliedCubeEdit: VersionedEdit {
    let version: CubeVersion
    private let change: @Sendable (inout [Channel]) -> Void

    init<Edit: CubeEditing>(_ command: Edit, _ edit: CubeEdit<Edit.Value>) {
        version = edit.version
        change = { command.apply(edit.value, to: &$0) }
    }

    func apply(to channels: inout [Channel]) {
        change(&channels)
    }
}

extension CubeCopy {
    typealias Edit = AppliedCubeEdit

    /// The copy after edits of this gateway. It has their version if they are all that the cube service has done.
    func applying(_ edits: [AppliedCubeEdit]) throws -> CubeCopy {
        guard !edits.isEmpty else { return self }
        var channels = channels
        var version = version
        for edit in edits {
            edit.apply(to: &channels)
            if edit.version.rawValue == version.rawValue + 1 { version = edit.version }
        }
        let isComplete = version == edits.last?.version
        return try CubeCopy(version: isComplete ? version : self.version, channels: channels, after: self)
    }
}

/// A command that edits the cube.
protocol CubeEditing: Command, Sendable {
    associatedtype Value: CubeValue

    /// Does what the cube service has done, to a copy. Objects that the copy does not have are left out.
    func apply(_ value: Value, to channels: inout [Channel])
}

extension AddChannel: CubeEditing {
    func apply(_ channel: Channel, to channels: inout [Channel]) {
        channels.append(channel)
    }
}

extension UpdateChannel: CubeEditing {
    func apply(_ channel: Channel, to channels: inout [Channel]) {
        channels.change(channelID) { $0 = channel }
    }
}

extension DeleteChannel: CubeEditing {
    func apply(_ done: Done, to channels: inout [Channel]) {
        channels.removeAll { $0.id == channelID }
    }
}

extension AddArea: CubeEditing {
    func apply(_ area: Area, to channels: inout [Channel]) {
        channels.change(channelID) { $0.areas.append(area) }
    }
}

extension UpdateArea: CubeEditing {
    func apply(_ area: Area, to channels: inout [Channel]) {
        channels.change(channelID) { $0.areas.change(areaID) { $0 = area } }
    }
}

extension DeleteArea: CubeEditing {
    func apply(_ done: Done, to channels: inout [Channel]) {
        channels.change(channelID) { $0.areas.removeAll { $0.id == areaID } }
    }
}

extension AddSubject: CubeEditing {
    func apply(_ subject: Subject, to channels: inout [Channel]) {
        channels.change(channelID) { $0.areas.change(areaID) { $0.subjects.append(subject) } }
    }
}

extension UpdateSubject: CubeEditing {
    func apply(_ subject: Subject, to channels: inout [Channel]) {
        channels.change(channelID, areaID, subjectID) { $0 = subject }
    }
}

extension DeleteSubject: CubeEditing {
    func apply(_ done: Done, to channels: inout [Channel]) {
        channels.change(channelID) { $0.areas.change(areaID) { $0.subjects.removeAll { $0.id == subjectID } } }
    }
}

extension SetAccess: CubeEditing {
    func apply(_ list: AccessList, to channels: inout [Channel]) {
        let access = list.access.map(\.description)
        if let areaID, let subjectID {
            channels.change(channelID, areaID, subjectID) { $0.access = access }
        } else if let areaID {
            channels.change(channelID) { $0.areas.change(areaID) { $0.access = access } }
        } else {
            channels.change(channelID) { $0.access = access }
        }
    }
}

extension SetOrder: CubeEditing {
    func apply(_ order: CubeOrder, to channels: inout [Channel]) {
        if let channelID, let areaID {
            channels.change(channelID) { $0.areas.change(areaID) { $0.subjects.sort(in: order.ids) } }
        } else if let channelID {
            channels.change(channelID) { $0.areas.sort(in: order.ids) }
        } else {
            channels.sort(in: order.ids)
        }
    }
}

extension SetApproval: CubeEditing {
    func apply(_ approval: Approval, to channels: inout [Channel]) {
        channels.change(channelID, areaID, subjectID) { $0.approval = approval.approval ? true : nil }
    }
}

extension Array where Element: Identifiable<ObjectID> {
    fileprivate mutating func change(_ id: ObjectID, _ body: (inout Element) -> Void) {
        guard let index = firstIndex(where: { $0.id == id }) else { return }
        body(&self[index])
    }

    fileprivate mutating func sort(in ids: [ObjectID]) {
        let places = Dictionary(ids.enumerated().map { ($1, $0) }) { first, _ in first }
        self = sorted { places[$0.id] ?? ids.count < places[$1.id] ?? ids.count }
    }
}

extension [Channel] {
    fileprivate mutating func change(
        _ channelID: ObjectID, _ areaID: ObjectID, _ subjectID: ObjectID, _ body: (inout Subject) -> Void
    ) {
        change(channelID) { $0.areas.change(areaID) { $0.subjects.change(subjectID, body) } }
    }
}

import Base
import Schemas

/// An edit of the cube with its entries in the audit log.
protocol RecordedEdit: CubeEditing {
    /// - Parameters:
    ///   - value: The edit's result.
    ///   - before: The channels that the edit has changed, as they were before.
    ///   - after: As they are now.
    func records(_ value: Value, before: [Channel], after: [Channel]) -> [CubeRecord]
}

extension AddChannel: RecordedEdit {
    func records(_ channel: Channel, before: [Channel], after: [Channel]) -> [CubeRecord] { [.added(CubeObject(channel))] }
}

extension AddArea: RecordedEdit {
    func records(_ area: Area, before: [Channel], after: [Channel]) -> [CubeRecord] {
        [.added(CubeObject(area, in: channelID))]
    }
}

extension AddSubject: RecordedEdit {
    func records(_ subject: Subject, before: [Channel], after: [Channel]) -> [CubeRecord] { [.added(CubeObject(subject))] }
}

/// An edit that replaces the fields of an object.
protocol ObjectUpdate: RecordedEdit {}

extension ObjectUpdate {
    func records(_ value: Value, before: [Channel], after: [Channel]) -> [CubeRecord] {
        guard let old = before.object(at: places[0]), let new = after.object(at: places[0]) else { return [] }
        return [
            CubeRecord(action: "\(new.kind).update", object: new.name, before: old.fields, after: new.fields)
        ]
    }
}

extension UpdateChannel: ObjectUpdate {}
extension UpdateArea: ObjectUpdate {}
extension UpdateSubject: ObjectUpdate {}

/// An edit that deletes an object with everything in it.
protocol ObjectDeletion: RecordedEdit {}

extension ObjectDeletion {
    func records(_ value: Value, before: [Channel], after: [Channel]) -> [CubeRecord] {
        before.objects(in: places[0]).map {
            CubeRecord(action: "\($0.kind).delete", object: $0.name, before: $0.fields)
        }
    }
}

extension DeleteChannel: ObjectDeletion {}
extension DeleteArea: ObjectDeletion {}
extension DeleteSubject: ObjectDeletion {}

extension MoveSubject: RecordedEdit {
    func records(_ subject: Subject, before: [Channel], after: [Channel]) -> [CubeRecord] {
        func fields(_ area: ObjectID) -> JSONValue { ["name": .string(subject.name), "area": .string(area.description)] }
        return [
            CubeRecord(
                action: Self.name, object: .subject(subject.topicKey), before: fields(areaID), after: fields(to.area))
        ]
    }
}

extension SetAccess: RecordedEdit {
    func records(_ list: AccessList, before: [Channel], after: [Channel]) -> [CubeRecord] {
        guard let old = before.object(at: places[0]) else { return [] }
        return [
            CubeRecord(
                action: Self.name, object: old.name, before: ["access": old.access],
                after: ["access": .texts(access.map(\.description))])
        ]
    }
}

extension SetApproval: RecordedEdit {
    func records(_ approval: Approval, before: [Channel], after: [Channel]) -> [CubeRecord] {
        guard let old = before.object(at: places[0]) else { return [] }
        return [
            CubeRecord(
                action: Self.name, object: old.name, before: ["approval": old.approval],
                after: ["approval": .boolean(approval.approval)])
        ]
    }
}

extension SetOrder: RecordedEdit {
    func records(_ order: CubeOrder, before: [Channel], after: [Channel]) -> [CubeRecord] {
        let ids: [ObjectID]
        let object: AuditObject
        switch (channelID, areaID) {
        case (nil, _): (ids, object) = (before.map(\.id), .cube)
        case (let channelID?, nil): (ids, object) = (before.flatMap(\.areas).map(\.id), .channel(channelID))
        case (let channelID?, let areaID?):
            let area = before.flatMap(\.areas).first { $0.id == areaID }
            (ids, object) = ((area?.subjects ?? []).map(\.id), .area(areaID, in: channelID))
        }
        return [
            CubeRecord(
                action: Self.name, object: object, before: ["ids": .texts(ids.map(\.description))],
                after: ["ids": .texts(ids.map(\.description))])
        ]
    }
}

extension [Channel] {
    /// The object at a place; `nil` if it is not there.
    fileprivate func object(at place: CubePlace) -> CubeObject? { objects(in: place).first }

    /// The object at a place with everything in it, from the outside in.
    fileprivate func objects(in place: CubePlace) -> [CubeObject] {
        filter { $0.id == place.channel }.flatMap { channel in
            (place.area == nil ? [CubeObject(channel)] : [])
                + channel.areas.filter { place.area == nil || $0.id == place.area }.flatMap { area in
                    (place.subject == nil ? [CubeObject(area, in: channel.id)] : [])
                        + area.subjects.filter { place.subject == nil || $0.id == place.subject }.map { CubeObject($0) }
                }
        }
    }
}

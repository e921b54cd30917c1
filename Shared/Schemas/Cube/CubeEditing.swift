/// A command that edits the cube. `apply` says once what it does: the store applies it to its documents, the gateway to its copy.
package protocol CubeEditing: Command where Reply == CubeEdit<Value> {
    /// The changed object.
    associatedtype Value: Codable & Hashable & Sendable

    /// What must be there: first the object that is changed, or to which something is added.
    var places: [CubePlace] { get }

    /// What must not have changed after ``unchangedSince``.
    var scope: CubeScope { get }

    /// The version of the cube that the editor has read; `nil` if it does not matter.
    var unchangedSince: CubeVersion? { get }

    /// Makes the edit.
    ///
    /// - Parameter newID: The id of the object that it adds.
    /// - Throws: ``CommandFailure`` with `not_found` for an object that is not there, `conflict` for an order of other objects; the
    ///   cube's errors.
    func apply(to cube: inout some EditableCube, newID: ObjectID) throws -> Value

    /// The id of the object that the edit has added; `nil` if it adds none.
    static func newID(in value: Value) -> ObjectID?
}

extension CubeEditing {
    package var scope: CubeScope { .object }
    package var unchangedSince: CubeVersion? { nil }

    package static func newID(in value: Value) -> ObjectID? { nil }
}

/// An edit within one channel.
package protocol ChannelEditing: CubeEditing {
    var channelID: ObjectID { get }

    /// - Parameter newID: As in ``CubeEditing/apply(to:newID:)``.
    func apply(to channel: inout Channel, newID: ObjectID) throws(CommandFailure) -> Value
}

extension ChannelEditing {
    package func apply(to cube: inout some EditableCube, newID: ObjectID) throws -> Value {
        try cube.change(channelID) { channel throws(CommandFailure) in try apply(to: &channel, newID: newID) }
    }
}

/// The place of a channel, an area or a subject in the cube.
package struct CubePlace: Hashable, Sendable {
    package let channel: ObjectID
    package let area: ObjectID?
    package let subject: ObjectID?

    package init(_ channel: ObjectID, _ area: ObjectID? = nil, _ subject: ObjectID? = nil) {
        self.channel = channel
        self.area = area
        self.subject = subject
    }

    /// The id of the object itself.
    package var id: ObjectID { subject ?? area ?? channel }
}

/// What an edit changes, beginning with the first of its ``CubeEditing/places``.
package enum CubeScope: Sendable {
    /// It adds something to the object, which does not count as changed.
    case addition
    /// The object's own fields or its place.
    case object
    /// The object and the order of its children.
    case order
    /// The object with everything in it.
    case contents
}

/// A cube that edits are applied to: the documents of the store, or a copy.
package protocol EditableCube {
    /// The channels, in their order.
    var channelIDs: [ObjectID] { mutating get throws }

    /// - Throws: ``CommandFailure`` with status `not_found`; the error of `change`.
    mutating func change<Value>(
        _ id: ObjectID, _ change: (inout Channel) throws(CommandFailure) -> Value
    ) throws -> Value

    /// Adds a channel at the end.
    mutating func add(_ channel: Channel) throws

    /// - Throws: ``CommandFailure`` with status `not_found`.
    mutating func remove(_ id: ObjectID) throws

    /// - Parameter ids: All channels.
    mutating func sort(_ ids: [ObjectID]) throws
}

extension [Channel]: EditableCube {
    package var channelIDs: [ObjectID] { map(\.id) }

    package mutating func change<Value>(
        _ id: ObjectID, _ change: (inout Channel) throws(CommandFailure) -> Value
    ) throws -> Value {
        guard let index = firstIndex(where: { $0.id == id }) else { throw CommandFailure.noChannel(id) }
        return try change(&self[index])
    }

    package mutating func add(_ channel: Channel) { append(channel) }

    package mutating func remove(_ id: ObjectID) throws {
        guard let index = firstIndex(where: { $0.id == id }) else { throw CommandFailure.noChannel(id) }
        remove(at: index)
    }

    package mutating func sort(_ ids: [ObjectID]) { sort(in: ids) }
}

extension Array where Element: Identifiable<ObjectID> {
    /// Sorts all elements.
    mutating func sort(in ids: [ObjectID]) {
        let places = Dictionary(ids.enumerated().map { ($1, $0) }) { first, _ in first }
        self = sorted { places[$0.id] ?? ids.count < places[$1.id] ?? ids.count }
    }
}

extension Channel {
    /// - Throws: ``CommandFailure`` with status `not_found`; the error of `change`.
    mutating func change<Value>(
        _ areaID: ObjectID, _ change: (inout Area) throws(CommandFailure) -> Value
    ) throws(CommandFailure) -> Value {
        guard let index = areas.firstIndex(where: { $0.id == areaID }) else { throw .noArea(areaID, in: id) }
        return try change(&areas[index])
    }

    /// - Throws: ``CommandFailure`` with status `not_found`.
    mutating func change<Value>(
        _ areaID: ObjectID, _ subjectID: ObjectID, _ change: (inout Subject) -> Value
    ) throws(CommandFailure) -> Value {
        let channelID = id
        return try self.change(areaID) { area throws(CommandFailure) in
            let index = try area.index(of: subjectID, in: channelID)
            return change(&area.subjects[index])
        }
    }

    /// - Throws: ``CommandFailure`` with status `not_found`.
    mutating func removeSubject(_ subjectID: ObjectID, of areaID: ObjectID) throws(CommandFailure) -> Subject {
        let channelID = id
        return try change(areaID) { area throws(CommandFailure) in
            let index = try area.index(of: subjectID, in: channelID)
            return area.subjects.remove(at: index)
        }
    }
}

extension Area {
    fileprivate func index(of subjectID: ObjectID, in channelID: ObjectID) throws(CommandFailure) -> Int {
        guard let index = subjects.firstIndex(where: { $0.id == subjectID }) else {
            throw .noSubject(subjectID, in: id, of: channelID)
        }
        return index
    }
}

extension CommandFailure {
    package static func noChannel(_ id: ObjectID) -> CommandFailure {
        CommandFailure(.notFound, "no channel \(id)")
    }

    package static func noArea(_ id: ObjectID, in channelID: ObjectID) -> CommandFailure {
        CommandFailure(.notFound, "no area \(id) in channel \(channelID)")
    }

    package static func noSubject(_ id: ObjectID, in areaID: ObjectID, of channelID: ObjectID) -> CommandFailure {
        CommandFailure(.notFound, "no subject \(id) in area \(areaID) of channel \(channelID)")
    }
}

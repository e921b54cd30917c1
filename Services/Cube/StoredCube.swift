import Schemas
import Store

/// The documents of the cube, as one edit changes them in its transaction.
struct StoredCube: EditableCube {
    private let transaction: Transaction
    private let state: CubeState
    private let scope: CubeScope
    private let unchangedSince: CubeVersion?
    /// The object that counts as changed; `nil` if only new ones do.
    private let changed: ObjectID?
    /// The subject that is moved; `nil` in other edits.
    private let moved: ObjectID?
    /// What is still to be checked.
    private var places: [CubePlace]
    /// All channels before the edit, once they are read.
    private var channels: [StoredChannel]?
    private var replaced: [StoredChannel] = []
    private let measures: ChannelMeasures
    /// The measure after the changes until now.
    private(set) var measure: CubeMeasure
    /// The changed channels, in the order of the changes; without new ones.
    var before: [Channel] { replaced.map(\.channel) }
    /// The same after the changes; without removed ones, and with new ones.
    private(set) var after: [Channel] = []

    init(
        in transaction: Transaction, _ state: CubeState, _ measure: CubeMeasure, _ measures: ChannelMeasures,
        for command: some CubeEditing
    ) {
        self.transaction = transaction
        self.state = state
        self.measure = measure
        self.measures = measures
        scope = command.scope
        unchangedSince = command.unchangedSince
        places = command.places
        moved = places.count > 1 ? places.first?.subject : nil
        changed = scope == .addition ? nil : places.first?.id
    }

    var channelIDs: [ObjectID] {
        mutating get throws { try storedChannels().map(\.id) }
    }

    private mutating func storedChannels() throws -> [StoredChannel] {
        let read = try channels ?? transaction.storedChannels()
        channels = read
        return read
    }

    mutating func change<Value>(
        _ id: ObjectID, _ change: (inout Channel) throws(CommandFailure) -> Value
    ) throws -> Value {
        var result: Value?
        try update(id) { cube, stored in
            try cube.check(stored)
            result = try stored.change(in: cube.state.version, cube.changed, movingFrom: cube.replaced, change)
        }
        guard let result else { preconditionFailure("an update changes its document") }
        return result
    }

    mutating func add(_ channel: Channel) throws {
        // Behind all others, even if another program has given one of them a large position.
        let (next, isTooLarge) = measure.lastPosition.addingReportingOverflow(1)
        let position = isTooLarge ? .max : max(state.version.rawValue, next)
        let stored = StoredChannel(channel, version: state.version, position: position)
        try note(nil, try transaction.insert(stored, into: CubeCollections.channels))
    }

    mutating func remove(_ id: ObjectID) throws {
        let removed = try Self.readable { try transaction.delete(id, from: CubeCollections.channels) }
        try check(removed)
        try note(removed, nil)
    }

    /// Channels that stay at their places keep their positions, unless the positions are unclear.
    mutating func sort(_ ids: [ObjectID]) throws {
        let order = try storedChannels()
        var positions = order.compactMap(\.position)
        let isClear = Set(positions).count == order.count && order.allSatisfy { $0.fraction == 0 }
        if !isClear {
            // Before every channel that is added later: its position is its version.
            positions = ids.indices.map { state.version.rawValue - Int64(ids.count - 1 - $0) }
        }
        let known = Dictionary(uniqueKeysWithValues: order.map { ($0.id, $0.position) })
        for (id, position) in zip(ids, positions) where !isClear || known[id] != position {
            try update(id) { _, stored in stored.position = position }
        }
        replaced = order
    }

    private mutating func update(_ id: ObjectID, _ change: (inout StoredCube, inout StoredChannel) throws -> Void) throws {
        let transaction = transaction
        try Self.readable {
            var old: StoredChannel?
            let new = try transaction.update(id, in: CubeCollections.channels) { stored in
                old = stored
                try change(&self, &stored)
            }
            try note(old, new)
        }
    }

    /// Checks the places in a channel that are not checked yet. Version and scope are those of the first place.
    private mutating func check(_ stored: StoredChannel) throws(CommandFailure) {
        for place in places where place.channel == stored.id {
            let isTarget = place.id == changed || scope == .addition
            try stored.check(
                place, isTarget ? scope : .addition, unchangedSince: unchangedSince, restored: state.restored)
        }
        places.removeAll { $0.channel == stored.id }
        if let moved { try stored.checkDuplicates(of: [moved]) }
    }

    private mutating func note(_ old: StoredChannel?, _ new: Stored<StoredChannel>?) throws {
        try measures.replace(old, by: new, in: &measure)
        if let old { replaced.append(old) }
        if let new { after.append(new.document.channel) }
    }

    /// Names the field of the command if a channel cannot be read.
    private static func readable<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as CommandFailure where failure.status == .conflict && failure.field == "_id" {
            throw CommandFailure(.conflict, failure.message, field: "channelID")
        }
    }
}

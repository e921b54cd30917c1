import Schemas

/// Which messages a stream of events carries.
enum EventView: Sendable {
    /// The messages of all subjects.
    case all
    case none
    /// The messages of a part of the cube with these ``CubeCopy/lists``.
    case part(CubePart, of: ObjectID, CubeAccess)

    /// The view of a caller: messages of the subjects that it may send to, if it may read messages.
    init(of principal: Principal?, in cube: CubeCopy) {
        guard let principal, principal.has(.read), !principal.lacksSecondFactor else {
            self = .none
            return
        }
        self = cube.access.part(of: principal).map { .part($0, of: cube.lists, cube.access) } ?? .all
    }

    func contains(_ topicKey: TopicKey) -> Bool {
        switch self {
        case .all: true
        case .none: false
        case .part(let part, _, let access): access.contains(topicKey, in: part)
        }
    }

    /// Whether another view, perhaps of another version of the cube, has the messages of the same topics.
    func hasSameTopics(as other: EventView) -> Bool {
        if self == other { return true }
        guard case .part(let part, _, let access) = self, case .part(let otherPart, _, let otherAccess) = other else {
            return false
        }
        return access.hasSameTopics(in: part, as: otherAccess, in: otherPart)
    }
}

extension EventView: Hashable {
    static func == (one: EventView, other: EventView) -> Bool {
        switch (one, other) {
        case (.all, .all), (.none, .none): true
        case (.part(let part, let lists, _), .part(let otherPart, let otherLists, _)):
            lists == otherLists && part == otherPart
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .all: hasher.combine(0)
        case .none: hasher.combine(1)
        case .part(let part, let lists, _):
            hasher.combine(lists)
            hasher.combine(part)
        }
    }
}

import Schemas

/// A position in the live events, as the client sends it back in `Last-Event-ID`:
/// `<a or s><version of the cube>` and `.<epoch>-<number>` for each message log.
struct EventPosition: Hashable, Sendable, LosslessStringConvertible {
    /// Whether the stream carried the messages of all subjects.
    var seesAll: Bool
    /// The version of the cube that decided which messages it carried.
    var cube: CubeVersion
    /// The last change of each process of the message log, in the order of their epochs.
    var changes: [ChangePosition]

    /// More than any number of message logs needs.
    private static let maxLength = 4_096

    init(seesAll: Bool, cube: CubeVersion, changes: [ChangePosition]) {
        self.seesAll = seesAll
        self.cube = cube
        self.changes = changes.sorted { $0.epoch.description < $1.epoch.description }
    }

    init?(_ description: String) {
        guard description.utf8.count <= Self.maxLength else { return nil }
        var parts = description.split(separator: ".", omittingEmptySubsequences: false)[...]
        guard let head = parts.popFirst(), let kind = head.first, kind == "a" || kind == "s",
            let cube = CubeVersion(String(head.dropFirst()))
        else { return nil }
        var changes: [ChangePosition] = []
        for part in parts {
            let pair = part.split(separator: "-", maxSplits: 1)
            guard pair.count == 2, let epoch = ObjectID(String(pair[0])), let number = Int64(pair[1]), number >= 0 else {
                return nil
            }
            changes.append(ChangePosition(epoch: epoch, number: number))
        }
        self.init(seesAll: kind == "a", cube: cube, changes: changes)
    }

    var description: String {
        (["\(seesAll ? "a" : "s")\(cube)"] + changes.map { "\($0.epoch)-\($0.number)" }).joined(separator: ".")
    }
}

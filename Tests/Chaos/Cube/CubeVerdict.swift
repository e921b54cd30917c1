import Schemas

/// What was done with channels of the cube, by the hub's answers.
struct CubeEdits: Hashable, Sendable {
    /// The ids of the added channels.
    var added: Set<String> = []
    /// Those of them that were deleted.
    var deleted: Set<String> = []
}

/// The conclusion about the cube. Pure.
///
/// The cube has each added channel that was not deleted, and the gateway has the same cube. The audit log has one entry for each addition and
/// each deletion, and none for what was not done.
struct CubeVerdict: Sendable {
    private(set) var problems: [String] = []
    /// The line for the report.
    let summary: String

    private static let additions: Set = [AddChannel.name, AddArea.name, AddSubject.name]
    private static let deletions: Set = [DeleteChannel.name, DeleteArea.name, DeleteSubject.name]
    private static let maxNamed = 5

    /// - Parameters:
    ///   - audit: `nil` if the run was not about it.
    init(_ edits: CubeEdits, cube evidence: CubeEvidence, audit: AuditEvidence?) {
        let cube = evidence.paths
        let lost = edits.added.subtracting(edits.deleted).subtracting(cube)
        summary = "cube: added=\(edits.added.count) deleted=\(edits.deleted.count) lost=\(lost.count)"
        check(lost, "channels that were added are not in the cube")
        check(edits.deleted.intersection(cube), "channels that were deleted are in the cube")
        if !evidence.isCopied { problems.append("the gateway's copy of the cube is not the cube") }
        guard let audit else { return }
        let added = entries(audit) { Self.additions.contains($0) }
        let deleted = entries(audit) { Self.deletions.contains($0) }
        check(deleted.subtracting(added), "audit: deletions of what was not added by any entry")
        let present = added.subtracting(deleted)
        check(present.symmetricDifference(cube), "audit: additions without an entry, or entries without an addition")
        let channels = deleted.filter { !$0.contains("-") }
        check(edits.deleted.symmetricDifference(channels), "audit: deletions without an entry, or entries without a deletion")
    }

    /// The objects of the entries with some actions, each of which has one entry.
    private mutating func entries(_ audit: AuditEvidence, where isWanted: (String) -> Bool) -> Set<String> {
        let counts = audit.entries.filter { isWanted($0.action) }.reduce(into: [:]) { $0[$1.object.id, default: 0] += 1 }
        check(counts.filter { $0.value > 1 }.keys, "audit: objects of the cube with two entries")
        return Set(counts.keys)
    }

    private mutating func check(_ paths: some Collection<String>, _ problem: String) {
        guard !paths.isEmpty else { return }
        problems.append("\(problem): \(paths.count), such as \(paths.sorted().prefix(Self.maxNamed))")
    }
}

/// A copy of a service's data, and the edits that it does not contain. It says which edits are to be made next, and notices that the copy
/// differs from the data. Pure.
struct CopyState<Copy: Versioned>: Sendable {
    typealias Edit = Copy.Edit

    /// Edits to make to a copy.
    struct Step: Sendable {
        let copy: Copy
        let edits: [Edit]
        /// Whether edits are missing between these, so that the result belongs to no version.
        fileprivate let isAhead: Bool
        fileprivate let generation: Int
        fileprivate let revision: Int
    }

    /// A read that has begun.
    struct Read: Sendable {
        /// The copy to return if the service has no other version; `nil` to read all.
        let known: Copy?
        let asked: ContinuousClock.Instant
        fileprivate let generation: Int
        fileprivate let announced: Announcement?
    }

    private struct PendingEdit {
        let edit: Edit
        let heard: ContinuousClock.Instant
        let bytes: Int
    }

    fileprivate struct Announcement: Equatable, Sendable {
        let version: Copy.Version
        let checksum: UInt64?
    }

    /// The maximum number and size of the edits that wait. A read makes up for the oldest ones.
    private static var maxEdits: Int { 1_000 }
    private static var maxEditBytes: Int { 4 << 20 }

    private(set) var copy: Copy?
    /// Whether the copy differs from the service's data.
    private(set) var isWrong = false
    /// Grows with each edit, and with each copy that was read.
    private(set) var revision = 0
    /// The edits that the copy does not contain, in the order of their versions.
    private var edits: [PendingEdit] = []
    private var editBytes = 0
    /// Grows with each copy.
    private var generation = 0
    /// The latest announcement.
    private var announced: Announcement?
    /// An announcement from which the data differed when it was read afterwards: the service has not noticed yet that another program has
    /// changed the data.
    private var tolerated: Announcement?
    /// The copy with all edits of a revision, although some between them are missing; made if it is wanted.
    private var ahead: (copy: Copy, revision: Int)?
    private var wantsAhead = false

    /// The edits that the copy does not contain.
    var pending: [Edit] { edits.map(\.edit) }

    // MARK: Edits

    mutating func hear<Event: VersionEvent>(_ event: Event, at now: ContinuousClock.Instant)
    where Event.Version == Copy.Version, Event.Edit == Edit {
        if let edit = event.versionedEdit {
            add(edit, at: now)
            // The event of an edit may come after that of a later one.
            if let announced, event.version < announced.version { return }
        }
        announced = Announcement(version: event.version, checksum: event.checksum)
        check()
    }

    mutating func add(_ edit: Edit, at now: ContinuousClock.Instant) {
        if let copy, edit.version <= copy.version { return }
        let index = edits.firstIndex { $0.edit.version >= edit.version } ?? edits.endIndex
        guard index == edits.endIndex || edits[index].edit.version != edit.version else { return }
        let pending = PendingEdit(edit: edit, heard: now, bytes: edit.size)
        edits.insert(pending, at: index)
        editBytes += pending.bytes
        while edits.count > Self.maxEdits || editBytes > Self.maxEditBytes { editBytes -= edits.removeFirst().bytes }
        revision += 1
    }

    /// The edits that are to be made now: all that follow the copy.
    mutating func next() -> Step? {
        guard let copy, !edits.isEmpty else { return nil }
        let run = isWrong ? [] : edits(after: copy.version)
        if !run.isEmpty { return step(copy, run, isAhead: false) }
        guard wantsAhead, ahead?.revision != revision else { return nil }
        wantsAhead = false
        return step(copy, pending, isAhead: true)
    }

    private func edits(after version: Copy.Version) -> [Edit] {
        var last = version
        let run = pending.prefix { edit in
            guard edit.follows(last) else { return false }
            last = edit.version
            return true
        }
        return Array(run)
    }

    private func step(_ copy: Copy, _ edits: [Edit], isAhead: Bool) -> Step {
        Step(copy: copy, edits: edits, isAhead: isAhead, generation: generation, revision: revision)
    }

    /// A step has ended. If its edits do not fit the copy, or give another version, the copy is wrong.
    ///
    /// - Parameter result: `nil` if the edits could not be made.
    mutating func end(_ step: Step, with result: Copy?) {
        guard step.generation == generation else { return }
        if step.isAhead {
            ahead = result.map { ($0, step.revision) }
        } else if let result, result.version == step.edits.last?.version {
            replace(by: result)
            check()
        } else {
            isWrong = true
        }
    }

    private mutating func replace(by copy: Copy) {
        self.copy = copy
        generation += 1
        ahead = nil
        forget { $0.edit.version <= copy.version }
    }

    private mutating func forget(where isObsolete: (PendingEdit) -> Bool) {
        edits.removeAll(where: isObsolete)
        editBytes = edits.reduce(0) { $0 + $1.bytes }
    }

    private mutating func check() {
        guard let copy, let announced, announced != tolerated, announced.version == copy.version,
            let expected = announced.checksum, let checksum = copy.checksum, checksum != expected
        else { return }
        isWrong = true
    }

    // MARK: The copy with edits that do not follow it

    /// Lets the edits be made that do not follow the copy, for ``copy(since:)``.
    mutating func wantAhead() {
        wantsAhead = true
    }

    /// The copy with at least the edits of a revision; `nil` if they have not been made.
    func copy(since revision: Int) -> Copy? {
        if let ahead, ahead.revision >= revision { return ahead.copy }
        return edits.isEmpty ? copy : nil
    }

    // MARK: Reads

    func beginRead(at now: ContinuousClock.Instant) -> Read {
        Read(known: isWrong ? nil : copy, asked: now, generation: generation, announced: announced)
    }

    mutating func end(_ read: Read, with data: Copy) {
        // Edits that were made after the service was asked.
        if read.generation != generation, let copy, copy.version > data.version { return }
        if let known = read.known, known.version == data.version, known.checksum == data.checksum {
            copy = data
        } else {
            revision += 1
            isWrong = false
            tolerated = read.announced
            replace(by: data)
        }
        // What was read has those that were known before, or they are of data that a backup has replaced.
        forget { $0.heard <= read.asked || $0.edit.version <= data.version }
        check()
    }

    /// Takes the copy of an earlier process, if there is none yet.
    mutating func restore(_ copy: Copy) {
        guard self.copy == nil else { return }
        replace(by: copy)
        check()
    }
}

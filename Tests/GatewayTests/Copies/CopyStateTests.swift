import Testing

@testable import Gateway

/// Which edits are made to a copy, and when it is wrong. The copy is at version 1.
@Suite("State of a copy")
struct CopyStateTests {
    private typealias State = CopyState<Snapshot>

    private let start = ContinuousClock.now
    private var state: State

    init() {
        state = State()
        let read = state.beginRead(at: start)
        state.end(read, with: Snapshot(version: 1))
    }

    private mutating func hear(_ event: SnapshotChanged, at seconds: Int = 1) {
        state.hear(event, at: start + .seconds(seconds))
    }

    private mutating func add(_ version: Int, size: Int = 1) {
        state.add(SnapshotEdit(version: version, size: size), at: start + .seconds(1))
    }

    private mutating func end(_ step: State.Step) {
        state.end(step, with: step.copy.applying(step.edits))
    }

    private mutating func nextStep() throws -> State.Step {
        let step = state.next()
        return try #require(step)
    }

    /// Makes all edits that can be made.
    private mutating func makeEdits() {
        while let step = state.next() { end(step) }
    }

    private mutating func expectSteps(_ count: Int, line: SourceLocation = #_sourceLocation) {
        var steps = 0
        while let step = state.next() {
            end(step)
            steps += 1
        }
        #expect(steps == count, sourceLocation: line)
    }

    @Test("All edits that have come during a step are made in the next one")
    mutating func backlog() throws {
        hear(SnapshotChanged(2))
        let first = try nextStep()
        for version in 3...500 { hear(SnapshotChanged(version)) }
        end(first)
        expectSteps(1)
        #expect(state.copy == Snapshot(version: 500, edits: Array(2...500)) && state.pending.isEmpty)
    }

    @Test("Edits that do not follow the copy wait, and nothing is made until the missing one has come")
    mutating func order() {
        for version in [4, 3, 6] {
            add(version)
            expectSteps(0)
        }
        add(2)
        expectSteps(1)
        #expect(state.copy == Snapshot(version: 4, edits: [2, 3, 4]) && state.pending.map(\.version) == [6])
    }

    @Test("Of the edits that wait, the oldest are forgotten beyond 1,000 of them, or 4 MiB")
    mutating func bounds() {
        for version in 3...1_502 { add(version) }
        #expect(state.pending.map(\.version) == Array(503...1_502))
        for version in 2_000...2_009 { add(version, size: 1 << 20) }
        #expect(state.pending.map(\.version) == Array(2_006...2_009))
        let read = state.beginRead(at: start + .zero)
        state.end(read, with: Snapshot(version: 2_005))
        expectSteps(1)
        #expect(state.copy?.version == 2_009)
    }

    @Test("An edit that is known already changes nothing, whether it waits, is being made, or has been made")
    mutating func knownEdit() throws {
        hear(SnapshotChanged(2))
        let revision = state.revision
        add(2)
        let step = try nextStep()
        add(2)
        end(step)
        add(2)
        #expect(state.revision == revision && state.pending.isEmpty)
        expectSteps(0)
        #expect(state.copy == Snapshot(version: 2, edits: [2]))
    }

    @Test("A copy with another checksum than that of the event is wrong, whatever comes first: event, answer or result")
    mutating func mismatch() throws {
        // The event comes first. The answer, which tells no checksum, does not help.
        hear(SnapshotChanged(2, checksum: 99))
        makeEdits()
        add(2)
        expectSteps(0)
        #expect(state.isWrong && state.beginRead(at: start).known == nil)

        self = CopyStateTests()
        add(2)
        let step = try nextStep()
        hear(SnapshotChanged(2, checksum: 99))
        end(step)
        #expect(state.isWrong)

        self = CopyStateTests()
        add(2)
        makeEdits()
        #expect(!state.isWrong)
        hear(SnapshotChanged(2, hasEdit: false, checksum: 99))
        #expect(state.isWrong)
    }

    @Test("The checksum counts that belongs to the copy's version, and that of the latest event")
    mutating func checksums() {
        hear(SnapshotChanged(3, checksum: 2))
        // It comes late.
        hear(SnapshotChanged(2, checksum: 99))
        makeEdits()
        #expect(!state.isWrong && state.copy?.version == 3)
        hear(SnapshotChanged(5, hasEdit: false, checksum: 99))
        #expect(!state.isWrong)
    }

    @Test("An edit that cannot be made makes the copy wrong, and is in what is read next")
    mutating func impossible() throws {
        add(2)
        let step = try nextStep()
        state.end(step, with: nil)
        #expect(state.isWrong && state.copy == Snapshot(version: 1) && state.pending.map(\.version) == [2])
        add(3)
        let read = state.beginRead(at: start)
        state.end(read, with: Snapshot(version: 2))
        makeEdits()
        #expect(!state.isWrong && state.copy == Snapshot(version: 3, edits: [3]))
    }

    @Test("A copy that became wrong while the service was asked whether it is current stays wrong until all is read")
    mutating func wrongDuringRead() {
        let read = state.beginRead(at: start)
        hear(SnapshotChanged(1, hasEdit: false, checksum: 99))
        state.end(read, with: Snapshot(version: 1))
        #expect(state.isWrong)
        let revision = state.revision
        let whole = state.beginRead(at: start)
        #expect(whole.known == nil)
        state.end(whole, with: Snapshot(version: 1))
        // Another copy of the same version is kept.
        #expect(!state.isWrong && state.revision > revision)
    }

    @Test("A copy that was read is not read again for the same announcement, and is for another one")
    mutating func foreignChange() {
        hear(SnapshotChanged(1, hasEdit: false, checksum: 99))
        let whole = state.beginRead(at: start)
        state.end(whole, with: Snapshot(version: 1))
        hear(SnapshotChanged(1, hasEdit: false, checksum: 99))
        #expect(!state.isWrong)
        hear(SnapshotChanged(1, hasEdit: false, checksum: 98))
        #expect(state.isWrong)
    }

    @Test("Other data of the same version, by its checksum, replaces the copy")
    mutating func sameVersion() {
        let revision = state.revision
        let read = state.beginRead(at: start)
        state.end(read, with: Snapshot(version: 1, edits: [0]))
        #expect(state.copy == Snapshot(version: 1, edits: [0]) && state.revision > revision)
    }

    @Test("What was announced during a read counts for what was read")
    mutating func announcedDuringRead() {
        let read = state.beginRead(at: start)
        hear(SnapshotChanged(2, hasEdit: false, checksum: 99))
        state.end(read, with: Snapshot(version: 2))
        #expect(state.isWrong)
    }

    @Test("A step that ends after a read does not replace what was read, and takes no edit away")
    mutating func lateStep() throws {
        add(2)
        let step = try nextStep()
        let read = state.beginRead(at: start)
        for version in [6, 7] { add(version) }
        state.end(read, with: Snapshot(version: 5))
        end(step)
        #expect(state.copy == Snapshot(version: 5) && state.pending.map(\.version) == [6, 7])
        makeEdits()
        #expect(state.copy == Snapshot(version: 7, edits: [6, 7]))
    }

    @Test("A read that ends after steps does not replace a newer copy, and a read of restored data replaces one without steps")
    mutating func lateRead() {
        let read = state.beginRead(at: start)
        for version in 2...3 { add(version) }
        makeEdits()
        state.end(read, with: Snapshot(version: 2))
        #expect(state.copy == Snapshot(version: 3, edits: [2, 3]))
        add(5)
        // The edit was known before, so it is of the replaced data.
        let restored = state.beginRead(at: start + .seconds(2))
        state.end(restored, with: Snapshot(version: 2))
        #expect(state.copy == Snapshot(version: 2) && state.pending.isEmpty)
    }

    @Test("Edits behind a gap are in a copy that is made only when it is wanted, and not with another edit that comes")
    mutating func ahead() throws {
        add(3)
        expectSteps(0)
        let revision = state.revision
        state.wantAhead()
        let step = try nextStep()
        add(4)
        end(step)
        #expect(state.copy(since: revision) == Snapshot(version: 1, edits: [3]))
        #expect(state.copy(since: state.revision) == nil)
        expectSteps(0)
        let later = state.revision
        state.wantAhead()
        expectSteps(1)
        #expect(state.copy(since: later) == Snapshot(version: 1, edits: [3, 4]))
        add(2)
        makeEdits()
        #expect(state.copy(since: later) == Snapshot(version: 4, edits: [2, 3, 4]))
    }
}

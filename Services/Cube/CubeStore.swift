import Logging
import Schemas
import Store
import Base

/// The store of the information cube: channels, areas and subjects (the seed's Channel, Area and Subject DAO).
///
/// Every method throws ``CommandFailure`` with status `unavailable` if the database is unreachable.
struct CubeStore: Sendable {
    let storage: Storage
    private let sizeLimit: CubeSizeLimit
    private let measures = ChannelMeasures()
    /// The latest version and its digest, for a caller that asks again and again.
    let repeatedState: @Sendable () async throws -> CubeChanged

    /// Opens the store, as ``Storage/open(_:at:logger:now:)``.
    ///
    /// - Parameter sizeLimit: The maximum size of the cube after an edit.
    init(at place: StoragePlace, sizeLimit: CubeSizeLimit, logger: Logger) async throws {
        storage = try await Storage.open(CubeCollections.store, at: place, logger: logger)
        self.sizeLimit = sizeLimit
        repeatedState = storage.repeatedSnapshot { try $0.announcedCube() }
    }

    func close() async throws { try await storage.close() }

    /// The version of the latest change; 0 for an unchanged cube.
    func version() async throws -> CubeVersion { try await announced().version }

    /// The latest version and its digest.
    func announced() async throws -> CubeChanged { try await storage.snapshot { try $0.announcedCube() } }

    func snapshot() async throws -> CubeSnapshot {
        try await storage.snapshot { transaction in
            CubeSnapshot(version: try transaction.cubeVersion(), channels: try transaction.storedChannels().map(\.channel))
        }
    }

    /// The subject with a topic key. The rest of the cube is only read if the subject was moved, or is not there.
    ///
    /// - Throws: ``CommandFailure`` with status `not_found`.
    func find(_ command: FindSubject) async throws -> FindSubject.Reply {
        try await storage.snapshot { transaction in
            let version = try transaction.cubeVersion()
            func reply(from channel: Channel) -> FindSubject.Reply? {
                for area in channel.areas {
                    guard let subject = area.subjects.first(where: { $0.topicKey == command.topicKey }) else { continue }
                    let names = CubeNames(channel: channel.name, area: area.name, subject: subject.name)
                    return FindSubject.Reply(version: version, subject: subject, names: names)
                }
                return nil
            }
            let channel = try transaction.get(command.topicKey.channel, from: CubeCollections.channels)?.document.channel
            if let channel, let found = reply(from: channel) { return found }
            for channel in try transaction.storedChannels() {
                if let found = reply(from: channel.channel) { return found }
            }
            throw CommandFailure(.notFound, "no subject has the topic key \(command.topicKey)")
        }
    }

    /// Makes an edit. Its version, the changed channels and the entries for the audit log are committed together.
    ///
    /// - Returns: The answer, and the event for copies of the cube.
    /// - Throws: ``CommandFailure``: `not_found` for an object that does not exist; `conflict` for an object that was changed after
    ///   `unchangedSince` or cannot be read; `storage_full` if the cube would become larger than the limit.
    func edit<Edit: RecordedEdit>(
        _ command: Edit, by author: AuditAuthor
    ) async throws -> (reply: CubeEdit<Edit.Value>, event: CubeChanged) {
        let newID = ObjectID()
        let (edit, digest) = try await storage.transaction { [sizeLimit, measures] transaction in
            // The count comes first, so that a concurrent edit conflicts before it has done any work.
            let state = try transaction.countCubeChange()
            let measure = try state.measure ?? transaction.measureCube(measures)
            try Self.check(command, at: CubeVersion(rawValue: state.version.rawValue - 1))
            var cube = StoredCube(in: transaction, state, measure, measures, for: command)
            let value = try command.apply(to: &cube, newID: newID)
            let growth = cube.measure.size &- measure.size
            try sizeLimit.check(size: measure.size, growth: growth)
            if growth > 0 { try transaction.checkRoom() }
            try transaction.update(CubeState.id, in: CubeCollections.state) { [measure = cube.measure] in $0.measure = measure }
            try transaction.record(
                command.records(value, before: cube.before, after: cube.after).map { $0.entry(by: author) })
            return (CubeEdit(version: state.version, value: value), cube.measure.digest)
        }
        let made = AppliedCubeEdit(command, newID: Edit.newID(in: edit.value))
        return (edit, CubeChanged(version: edit.version, edit: made, digest: digest))
    }

    /// Counts a change by another program as a new version.
    ///
    /// - Returns: The version and its digest; `nil` if there is no such change.
    func countForeignEdit() async throws -> CubeChanged? {
        guard try await !storage.snapshot({ [measures] in try $0.isCubeAsMeasured(measures) }) else { return nil }
        return try await storage.transaction { [measures] in try $0.countForeignEdit(measures) }
    }

    /// Refuses a version that the cube does not have yet, and an order of the channels of an old version.
    private static func check(_ command: some CubeEditing, at version: CubeVersion) throws(CommandFailure) {
        guard let known = command.unchangedSince else { return }
        guard known <= version else {
            throw CommandFailure(.conflict, "the cube has version \(version), and not yet version \(known)")
        }
        // The order of the channels is a part of the cube.
        guard command.places.isEmpty, version > known else { return }
        throw CommandFailure(.conflict, "the cube was changed in version \(version), after version \(known)")
    }
}

extension Transaction {
    /// - Throws: ``CommandFailure`` if another program has damaged the state: a version must not be given twice.
    private func cubeState() throws -> CubeState? {
        if let state = try get(CubeState.id, from: CubeCollections.state) { return state.document }
        guard try stored([CubeState.id], in: CubeState.idField, of: CubeCollections.state).isEmpty else {
            throw CommandFailure(
                .internal, "the state of the cube in the collection cube cannot be read; put it right in the database")
        }
        return nil
    }

    func cubeVersion() throws -> CubeVersion { try cubeState()?.version ?? .initial }

    func announcedCube() throws -> CubeChanged {
        let state = try cubeState()
        return CubeChanged(version: state?.version ?? .initial, digest: state?.measure?.digest)
    }

    /// Counts one more change.
    func countCubeChange() throws -> CubeState {
        guard let state = try cubeState() else {
            do {
                return try insert(CubeState(id: CubeState.id, version: 1), into: CubeCollections.state).document
            } catch let failure as CommandFailure where failure.status == .conflict {
                throw CommandFailure(
                    .unavailable, "another instance makes the state of the cube at this moment", retryAfter: 1_000)
            }
        }
        let (next, isTooLarge) = state.version.rawValue.addingReportingOverflow(1)
        guard !isTooLarge else { throw CommandFailure(.internal, "the cube's version in the database cannot grow") }
        return try update(state.id, in: CubeCollections.state) { $0.version = CubeVersion(rawValue: next) }.document
    }

    /// The readable channels, in their order. The log names the others.
    func storedChannels() throws -> [StoredChannel] {
        try scan(CubeCollections.channels, limit: .max).documents.map(\.document).sorted { $0.sortKey < $1.sortKey }
    }

    /// Measures all channels.
    func measureCube(_ measures: ChannelMeasures = ChannelMeasures()) throws -> CubeMeasure {
        try measures.measure(unread(CubeCollections.channels))
    }

    /// The measure after the last change. It is empty for a cube that was never changed, and `nil` for one that is not measured.
    private func knownMeasure() throws -> CubeMeasure? {
        guard let state = try cubeState() else { return CubeMeasure() }
        return state.measure
    }

    /// Whether the cube is as it was measured after the last change.
    func isCubeAsMeasured(_ measures: ChannelMeasures = ChannelMeasures()) throws -> Bool {
        guard let known = try knownMeasure() else { return false }
        return try measureCube(measures).isSame(as: known)
    }

    /// As ``CubeStore/countForeignEdit()``.
    fileprivate func countForeignEdit(_ measures: ChannelMeasures) throws -> CubeChanged? {
        let (known, measure) = (try knownMeasure(), try measureCube(measures))
        // The first measurement is no change, and neither is one by another version of the program.
        if known.map(measure.hasSameDocuments) ?? true {
            guard known?.isSame(as: measure) != true else { return nil }
            try update(CubeState.id, in: CubeCollections.state) { $0.measure = measure }
            return nil
        }
        let version = try countCubeChange().version
        try update(CubeState.id, in: CubeCollections.state) { $0.measure = measure }
        try record(CubeRecord.foreignEdit(version).entry(by: .program))
        return CubeChanged(version: version, digest: measure.digest)
    }
}

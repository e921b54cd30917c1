import FoundationEssentials
import Glibc
import PowerCut
import Synchronization
import TestSupport

/// The machine that the product runs on: its power, its disk and its clock. FCM, and a database server, are elsewhere.
final class Machine: Sendable {
    private struct State {
        var injectedFaults: [InjectedFault] = []
        var isClockSteady = true
        /// The number of power cuts.
        var cuts = 0
    }

    /// The services' state directory.
    let stateFolder: String
    /// The disk of the state folder, if the user may mount one.
    private let disk: SmallDisk?
    private let folder: String
    private let journal: Journal
    private let clock: SetClock
    private let state = Mutex(State())
    /// The disk's content at the beginning of the log of writes.
    private let recorded: Mutex<RecordedDisk>

    /// The preloaded library of ``SetClock``.
    private let clockLibrary: String

    /// No post is scheduled this long before and after a step of the clock: services check for a step once a second.
    private static let clockNotice = Duration.seconds(2)

    /// - Parameters:
    ///   - folder: The folder of the log of writes and of the clock, and of the state directory if there is no disk.
    init(disk: SmallDisk?, in folder: String, journal: Journal) async throws {
        self.disk = disk
        self.folder = folder
        self.journal = journal
        stateFolder = (disk?.folder ?? folder) + "/state"
        try FileManager.default.createDirectory(
            atPath: stateFolder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        recorded = Mutex(try RecordedDisk(stateFolder))
        clock = try SetClock(file: folder + "/clock")
        clockLibrary = try await PreloadedLibrary.build("clock-library", SetClock.source, in: folder)
    }

    var injectedFaults: [InjectedFault] { state.withLock(\.injectedFaults) }
    /// Whether the services' clock is right, and stays right for a moment.
    var isClockSteady: Bool { state.withLock(\.isClockSteady) }

    /// The environment of each service.
    ///
    /// - Parameter libraries: Further libraries to preload.
    func variables(libraries: [String] = []) -> [String: String] {
        let recorder = WriteRecorder(folder: stateFolder, log: folder + "/writes")
        let executables = ServiceProcess.executables.path(percentEncoded: false)
        var variables = recorder.variables(executables: executables)
        variables.merge(clock.variables) { $1 }
        for library in libraries + [clockLibrary] { variables["LD_PRELOAD"]? += ":" + library }
        return variables
    }

    /// Injects faults one after another.
    ///
    /// - Parameters:
    ///   - begin: The start of the schedule.
    ///   - parts: The processes on this machine.
    func inject(_ faults: [Fault], from begin: ContinuousClock.Instant, _ parts: [RunningPart]) async throws {
        for fault in faults {
            let isStep = fault.action.clockOffset != 0
            try await Task.sleep(until: begin + fault.at - (isStep ? Self.clockNotice : .zero), clock: .continuous)
            if isStep {
                state.withLock { $0.isClockSteady = false }
                try await Task.sleep(until: begin + fault.at, clock: .continuous)
            }
            let began = Int64.nowInMilliseconds
            journal.say("machine: \(fault.action), \(fault.length.inSeconds)")
            switch fault.action {
            case .cutPower: try await cutPower(for: fault.length, parts)
            case .fillDisk:
                guard let disk else {
                    journal.say("machine: there is no right to mount a disk that can be filled")
                    continue
                }
                try disk.fill()
                try await Task.sleep(for: fault.length)
                try disk.free()
            default:
                try clock.set(ahead: fault.action.clockOffset / 1_000)
                try await Task.sleep(for: fault.length)
                try clock.set(ahead: 0)
                try await Task.sleep(for: Self.clockNotice)
                state.withLock { $0.isClockSteady = true }
            }
            let injected = InjectedFault(part: .machine, action: fault.action, began: began, ended: .nowInMilliseconds)
            state.withLock { $0.injectedFaults.append(injected) }
        }
    }

    private func cutPower(for length: Duration, _ parts: [RunningPart]) async throws {
        try await withThrowingTaskGroup { group in
            for part in parts { group.addTask { try await part.hold() } }
            for try await _ in group {}
        }
        let number = state.withLock { state in
            state.cuts += 1
            return state.cuts
        }
        try recorded.withLock { disk in
            disk.replay(try WriteLog(path: folder + "/writes"))
            // Alternates between the worst and the likely case.
            try disk.cutPower(number.isMultiple(of: 2) ? .keepsSome(seed: UInt64(number)) : .losesAllUnsynced)
            try FileManager.default.removeItem(atPath: folder + "/writes")
            disk = try RecordedDisk(stateFolder)
        }
        try await Task.sleep(for: length)
        for part in parts { try await part.start() }
    }
}

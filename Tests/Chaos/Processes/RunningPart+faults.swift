import Glibc
import TestSupport

extension RunningPart {
    /// The time from the predecessor's SIGTERM to the successor's start.
    private static let successorDelay = Duration.milliseconds(300)
    /// How long a service may take to recreate its socket.
    private static let bindTimeout = Duration.seconds(30)

    /// Injects faults one after another, and restarts the process in between if needed.
    ///
    /// - Parameter begin: The start of the schedule.
    func inject(_ faults: [Fault], from begin: ContinuousClock.Instant) async throws {
        for fault in faults {
            try await keepRunning(until: begin + fault.at)
            try await inject {
                let began = Int64.nowInMilliseconds
                let next = fault.changesVersion ? ", then \(version == .this ? "the other" : "this") version" : ""
                journal.say("\(part.name): \(fault.action), \(fault.length.inSeconds)\(next)")
                try await inject(fault)
                note(InjectedFault(part: part, action: fault.action, began: began, ended: .nowInMilliseconds))
            }
        }
    }

    private func inject(_ fault: Fault) async throws {
        switch fault.action {
        case .kill:
            await end()
            try await Task.sleep(for: fault.length)
            try await start(changingVersion: fault.changesVersion)
        case .freeze:
            let process = process
            process?.signal(SIGSTOP)
            try await Task.sleep(for: fault.length)
            process?.signal(SIGCONT)
        case .restart:
            await stop()
            try await Task.sleep(for: fault.length)
            try await start(changingVersion: fault.changesVersion)
        case .replaceEarly: try await replaceEarly(changingVersion: fault.changesVersion)
        case .orphan:
            guard let process else { return }
            try process.endInput()
            await finish(process)
            try await Task.sleep(for: fault.length)
            try await start(changingVersion: fault.changesVersion)
        case .unlinkSocket: try await unlinkSocket(for: fault.length)
        case .silenceConnections:
            path?.silenceConnections()
            try await keepRunning(until: .now + fault.length)
        case .cutOff:
            path?.cut()
            try await keepRunning(until: .now + fault.length)
            path?.mend()
        case .hangResolver:
            try path?.hangResolver()
            try await keepRunning(until: .now + fault.length)
            try path?.mendResolver()
        case .cutPower, .fillDisk, .setClockBack, .setClockForward: break
        }
    }

    private func replaceEarly(changingVersion: Bool) async throws {
        guard let predecessor = process else { return }
        predecessor.signal(SIGTERM)
        try await Task.sleep(for: Self.successorDelay)
        async let end: Void = finish(predecessor)
        try await start(changingVersion: changingVersion)
        await end
    }

    private func unlinkSocket(for length: Duration) async throws {
        for socket in sockets { unlink(socket) }
        try await keepRunning(until: .now + length)
        do {
            try await eventually("its socket", within: Self.bindTimeout) { sockets.allSatisfy { access($0, F_OK) == 0 } }
        } catch {
            complain("did not make its socket again within \(Self.bindTimeout.inSeconds)")
        }
    }
}

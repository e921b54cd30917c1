import Base

/// The schedule of faults. The same seed, length and parts make the same schedule, even with another version.
///
/// Faults come in rounds, each in random order, so that even a short run contains every fault of every part. A round has every
/// possible fault of each process and of the machine. It also has a simultaneous kill, freeze and restart of all instances of a
/// service, and of all processes. After each round there is a period without faults, in which no fault explains a problem.
///
/// The first half minute has a kill of each process and every fault of the machine, so that a run of one minute never lacks them.
struct Schedule: Hashable, Sendable {
    /// In the order of time.
    let faults: [Fault]

    /// The mean time between two faults, which varies from half to double.
    private static let pause = Duration.milliseconds(900)
    private static let recovery = Duration.seconds(6)
    /// The minimum time without a fault after a process has recovered.
    private static let respite = Duration.milliseconds(1_500)
    /// How long to wait until a fault's processes have recovered before another fault comes first.
    private static let maxWait = Duration.seconds(4)
    /// The minimum length of a run that has freezes longer than a lease of the message log.
    private static let minWithLongFreezes = Duration.seconds(180)
    /// A lease is 35 s.
    private static let longFreezes = 36.0...45.0
    /// Some are longer than 3 s, after which the bus closes a silent connection.
    private static let freezes = 0.1...5.0
    private static let absences = 0.0...2.0
    /// The durations of other faults.
    private static let outages = 2.0...6.0
    /// The share of kills and faults of the machine among the faults at the beginning of the first round.
    private static let urgentShare = 0.75

    /// A fault of one or several parts, before it has a time.
    private struct Candidate {
        /// The parts that have the fault.
        let parts: [Part]
        let action: Fault.Action
        let seconds: ClosedRange<Double>
        /// The parts that may have no other fault during this one.
        var reserved: [Part]

        init(_ parts: [Part], _ action: Fault.Action, seconds: ClosedRange<Double>, reserved: [Part] = []) {
            self.parts = parts
            self.action = action
            self.seconds = seconds
            self.reserved = parts + reserved
        }
    }

    /// - Parameter mixed: The parts that have another version. Each fault that replaces their process changes its version.
    init(seed: UInt64, length: Duration, parts: [Part], mixed: [Part] = []) {
        var random = SeededGenerator(seed: seed)
        let candidates = Self.candidates(of: parts, hasLongFreezes: length >= Self.minWithLongFreezes)
        var faults: [Fault] = []
        var free: [Part: Duration] = [:]
        var round: [Candidate] = []
        var now = Duration.seconds(1)
        while now < length {
            if round.isEmpty {
                round = candidates.shuffled(using: &random)
                if faults.isEmpty { round = Self.withUrgentFirst(round, using: &random) }
            }
            // The next fault whose processes have recovered, or will soon.
            let waits = round.map { candidate in candidate.reserved.map { (free[$0] ?? .zero) - now }.max() ?? .zero }
            let index = waits.firstIndex { $0 <= Self.maxWait } ?? waits.indices.min { waits[$0] < waits[$1] } ?? 0
            now += max(.zero, waits[index])
            let next = round.remove(at: index)
            let seconds = Double.random(in: next.seconds, using: &random)
            if now < length {
                for part in next.parts {
                    faults.append(
                        Fault(
                            at: now, part: part, action: next.action, length: min(.seconds(seconds), length - now),
                            changesVersion: next.action.replacesProcess && mixed.contains(part)))
                }
            }
            for part in next.reserved { free[part] = now + .seconds(seconds) + Self.respite }
            now += Self.pause * Double.random(in: 0.5...1.5, using: &random)
            if round.isEmpty { now = max(now, free.values.max() ?? now) + Self.recovery }
        }
        self.faults = faults
    }

    /// Puts the kill of each process and the faults of the machine at the beginning of a round, among some others.
    private static func withUrgentFirst(_ round: [Candidate], using random: inout SeededGenerator) -> [Candidate] {
        func isUrgent(_ candidate: Candidate) -> Bool {
            candidate.parts.count == 1 && candidate.action == .kill || candidate.parts == [.machine]
        }
        let (urgent, others) = (round.filter(isUrgent), round.filter { !isUrgent($0) })
        let companions = Int(Double(urgent.count) * (1 / urgentShare - 1))
        return (urgent + others.prefix(companions)).shuffled(using: &random) + others.dropFirst(companions)
    }

    private static func candidates(of parts: [Part], hasLongFreezes: Bool) -> [Candidate] {
        let processes = parts.filter { $0 != .machine && !$0.actions.isEmpty }
        var candidates = parts.flatMap { part in
            part.actions.map { action in
                // A power cut affects all processes, so none may have another fault.
                Candidate([part], action, seconds: seconds(of: action), reserved: action == .cutPower ? processes : [])
            }
        }
        for group in [Part.relays, Part.messageLogs, processes] {
            candidates += Fault.Action.ofProcesses.map { Candidate(group, $0, seconds: seconds(of: $0)) }
        }
        if hasLongFreezes {
            candidates += processes.map { Candidate([$0], .freeze, seconds: longFreezes) }
        }
        return candidates
    }

    private static func seconds(of action: Fault.Action) -> ClosedRange<Double> {
        switch action {
        case .kill, .restart, .orphan, .replaceEarly, .cutPower: absences
        case .freeze: freezes
        case .unlinkSocket, .silenceConnections, .cutOff, .hangResolver, .fillDisk, .setClockBack, .setClockForward: outages
        }
    }
}

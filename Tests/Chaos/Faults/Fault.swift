/// A fault that is injected into one part.
struct Fault: Hashable, Sendable {
    enum Action: String, Hashable, Sendable, CaseIterable {
        /// SIGKILL, and a restart after a while.
        case kill
        /// SIGSTOP, and SIGCONT after a while.
        case freeze
        /// SIGTERM, and a restart after a while, as by an operator. It may cost nothing but time.
        case restart
        /// SIGTERM, and a successor that starts while the process is still finishing. It may cost nothing but time.
        case replaceEarly
        /// The end of its standard input, as when its supervisor ends, and a restart after a while. It may cost nothing but time.
        case orphan
        /// The file of its socket is removed. The process must recreate it by itself.
        case unlinkSocket
        /// All connections of a relay to FCM go silent: bytes are accepted and do not arrive. New connections work.
        case silenceConnections
        /// A relay's connections to FCM break, and new ones are refused for a while. The other relay still reaches FCM.
        case cutOff
        /// A relay's connections to FCM break, and for a while its resolver does not answer.
        case hangResolver
        /// A power cut of the machine: every process except FCM ends at once, and the disk has only synced data.
        case cutPower
        /// The machine's disk has no room left for a while.
        case fillDisk
        /// The machine's clock is an hour behind for a while.
        case setClockBack
        /// The machine's clock is an hour ahead for a while.
        case setClockForward

        /// The faults of every process.
        static let ofProcesses: [Action] = [.kill, .freeze, .restart]
        /// The faults of the whole machine.
        static let ofMachine: [Action] = [.cutPower, .fillDisk, .setClockBack, .setClockForward]

        /// Whether another process of the service takes its place.
        var replacesProcess: Bool {
            switch self {
            case .kill, .restart, .replaceEarly, .orphan: true
            default: false
            }
        }

        /// The offset of the machine's clock during the fault, in milliseconds.
        var clockOffset: Int64 {
            switch self {
            case .setClockBack: -3_600_000
            case .setClockForward: 3_600_000
            default: 0
            }
        }
    }

    /// Since the beginning.
    let at: Duration
    let part: Part
    let action: Action
    /// How long the process is stopped or frozen.
    let length: Duration
    /// Whether the process that starts afterwards is that of the other version: an upgrade, or a rollback.
    var changesVersion = false
}

/// A fault that happened, with the time in which it could have an effect, in Unix milliseconds.
struct InjectedFault: Hashable, Sendable {
    let part: Part
    let action: Fault.Action
    let began: Int64
    /// When the process was working again: continued, or ready after a restart.
    let ended: Int64

    /// In milliseconds.
    var length: Int64 { ended - began }

    func overlaps(_ time: ClosedRange<Int64>) -> Bool {
        began <= time.upperBound && ended >= time.lowerBound
    }
}

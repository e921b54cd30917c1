/// Something that is done to one process.
struct Fault: Hashable, Sendable {
    enum Deed: String, Hashable, Sendable, CaseIterable {
        /// SIGKILL, and after a while another start.
        case kill
        /// SIGSTOP, and after a while SIGCONT.
        case freeze
        /// SIGTERM, and after a while another start: what an operator does. It may not cost anything but time.
        case restart
        /// SIGTERM, and another start while the process is still finishing. It may not cost anything but time.
        case replaceEarly
        /// Its supervisor ends, which the process notices by its standard input, and after a while another start. The same holds.
        case orphan
        /// The file of its socket is removed. It has to make another one by itself.
        case unlinkSocket
        /// All connections of a relay to FCM go silent: bytes are taken and do not arrive. New connections work.
        case silenceConnections
        /// A relay's connections to FCM break, and new ones are refused for a while, while the other relay has FCM.
        case cutOff
        /// A relay's connections to FCM break, and for a while its resolver does not answer.
        case hangResolver
        /// The machine's power: every process but FCM ends at once, and the disk has only what was synced.
        case cutPower
        /// The machine's disk has no room left for a while.
        case fillDisk
        /// The machine's clock is an hour behind for a while.
        case setClockBack
        /// The machine's clock is an hour ahead for a while.
        case setClockForward

        /// What is done to every process.
        static let ofProcesses: [Deed] = [.kill, .freeze, .restart]
        /// What is done to the machine as a whole.
        static let ofMachine: [Deed] = [.cutPower, .fillDisk, .setClockBack, .setClockForward]

        /// How far the machine's clock is off meanwhile, in milliseconds.
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
    let deed: Deed
    /// For how long the process is away or frozen.
    let length: Duration
}

/// A fault as it was: the time in which it could do harm, in Unix milliseconds.
struct Disturbance: Hashable, Sendable {
    let part: Part
    let deed: Fault.Deed
    let began: Int64
    /// When the process was at work again: continued, or ready after another start.
    let ended: Int64

    /// In milliseconds.
    var length: Int64 { ended - began }

    func overlaps(_ time: ClosedRange<Int64>) -> Bool {
        began <= time.upperBound && ended >= time.lowerBound
    }
}

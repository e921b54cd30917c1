/// Something that is done to one process.
struct Fault: Hashable, Sendable {
    enum Deed: String, Hashable, Sendable, CaseIterable {
        /// SIGKILL, and after a while another start.
        case kill
        /// SIGSTOP, and after a while SIGCONT.
        case freeze
        /// SIGTERM, and after a while another start: what an operator does. It may not cost anything but time.
        case restart
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

import DedicatedThread

extension WakeUp {
    /// - Throws: ``BusError`` if the process has too many open files.
    static func forBus() throws(BusError) -> WakeUp {
        guard let wakeUp = WakeUp() else { throw BusError(.system, "the process has too many open files") }
        return wakeUp
    }
}

import CZeroMQ

#if canImport(Glibc)
    import Glibc
#endif

/// Starts the thread that owns a process's sockets. It ends when the outbox is closed.
func startBusThread(_ loop: sending BusLoop) throws(BusError) {
    let argument = Unmanaged.passRetained(loop)
    var thread = pthread_t()
    // The thread begins with the signal mask of the one that makes it: signals are for others.
    var all = sigset_t()
    var former = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &former)
    let code = pthread_create(&thread, nil, busThreadBody, argument.toOpaque())
    pthread_sigmask(SIG_SETMASK, &former, nil)
    guard code == 0 else {
        argument.release()
        throw BusError(.system, "cannot start the bus thread: \(ZeroMQFault(number: code))")
    }
    pthread_detach(thread)
}

/// A free function, so that nothing gives the C callback an actor's isolation.
private func busThreadBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    msi_name_thread("msi-bus")
    if let argument { Unmanaged<BusLoop>.fromOpaque(argument).takeRetainedValue().run() }
    return nil
}

import CZeroMQ
import DedicatedThread
package import Logging

/// The ZeroMQ side of a process: the context, and the one thread that owns every socket.
///
/// Which thread owns what:
/// - The *bus thread* owns the sockets, the client's pools (``ClientPoolStateMachine``), the server's queue of accepted
///   requests and the publishers. None of it has a lock. Between its looks at the sockets it runs the tasks that have chosen
///   it (``BusExecutor``): the server's workers (``Worker``), handlers that are short, those with ``taskExecutor``.
///   Those use what it owns directly.
/// - *Other tasks* ask the bus thread for something through the ``Outbox``, whose lock is held for one append or one swap, and
///   for nothing else; the bus thread answers by resuming continuations and by the queues of received events.
/// - ZeroMQ's own I/O thread does the reading and writing; nothing of ours runs there.
///
/// One bus a process. Close it before the process ends: that flushes replies and fails whoever still waits.
package final class Bus: Sendable {
    let context: ZeroMQContext
    let outbox: Outbox
    let executor: BusExecutor

    /// - Throws: ``BusError`` where the system has no room for a socket or a thread.
    package init(logger: Logger) throws(BusError) {
        let outbox = try Outbox()
        let executor = BusExecutor(outbox: outbox)
        let context = try ZeroMQContext()
        do {
            try DedicatedThread.start {
                msi_name_thread("msi-bus")
                BusLoop(outbox: outbox, executor: executor, context: context, logger: logger).run()
            }
        } catch {
            context.terminate()
            throw BusError(.system, "cannot start the bus thread: \(error)")
        }
        self.context = context
        self.outbox = outbox
        self.executor = executor
    }

    /// A bus that was not closed, as when a service's start fails half-way, closes without anybody waiting for it.
    deinit {
        outbox.closeUnattended()
    }

    /// Closes every client, server, publisher and subscriber of this bus. Returns when all replies and events that were
    /// handed over have left, or the few seconds that they have for that are over.
    package func close() async {
        await outbox.close()
    }

    /// Runs tasks on the bus thread, and elsewhere once that has ended.
    ///
    /// For tasks that are short and made of requests: what computes for milliseconds, or blocks, keeps every request of the
    /// process waiting.
    package var taskExecutor: any TaskExecutor { executor }

    func submit(_ work: BusWork) -> Bool {
        outbox.submit(work)
    }

    /// Gives a participant to the bus thread; closes it where the bus is closed already.
    func attach(_ participant: any BusParticipant) throws(BusError) {
        guard !outbox.submit(.attach(participant)) else { return }
        participant.close()
        throw BusError(.closed, "the bus is closed")
    }

    /// Closes a participant and waits until that is done. Nothing happens to one that is closed already.
    func detach(_ participant: any BusParticipant) async {
        await withCheckedContinuation { continuation in
            if !outbox.submit(.detach(participant, done: continuation)) { continuation.resume() }
        }
    }

    /// Closes the participant of an owner that is gone, unless that, or the bus, closed it already.
    func abandon(_ participant: any BusParticipant) {
        _ = outbox.submit(.detach(participant, done: nil))
    }
}

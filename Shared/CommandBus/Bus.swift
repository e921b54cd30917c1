package import Logging

/// The ZeroMQ side of a process: the context, and the one thread that owns every socket.
///
/// Which thread owns what:
/// - The *bus thread* owns the sockets, the client's pools (``ClientPoolStateMachine``), the server's table of accepted
///   requests and the publishers. None of it has a lock.
/// - *Tasks* encode, decode and handle. They ask the bus thread for something through the ``Outbox``, whose lock is held
///   for one append or one swap, and for nothing else; the bus thread answers by resuming continuations, by the stream of
///   accepted requests and by the queues of received events.
/// - ZeroMQ's own I/O thread does the reading and writing; nothing of ours runs there.
///
/// One bus a process. It must be closed: that flushes replies, fails whoever still waits, and ends the thread.
package final class Bus: Sendable {
    let context: ZeroMQContext
    private let outbox: Outbox

    /// - Throws: ``BusError`` where the system has no room for a socket or a thread.
    package init(logger: Logger) throws(BusError) {
        let outbox = try Outbox()
        let context = try ZeroMQContext()
        do {
            try startBusThread(BusLoop(outbox: outbox, context: context, logger: logger))
        } catch {
            context.terminate()
            throw error
        }
        self.context = context
        self.outbox = outbox
    }

    deinit {
        assert(outbox.isClosed, "a bus must be closed")
    }

    /// Closes every client, server, publisher and subscriber of this bus. Returns when all replies and events that were
    /// handed over have left, or the few seconds that they have for that are over.
    package func close() async {
        await outbox.close()
    }

    var isClosed: Bool { outbox.isClosed }

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
}

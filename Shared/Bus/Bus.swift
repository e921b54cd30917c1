import CZeroMQ
import Base
package import Logging

/// The ZeroMQ side of a process: the context, and the one thread that owns every socket.
///
/// Threads:
/// - The *bus thread* owns the sockets, the client's pools (``ClientPoolStateMachine``), the server's queue of accepted
///   requests and the publishers, all without locks. Between two polls of the sockets it runs the tasks on its executor
///   (``BusExecutor``): the server's workers (``Worker``), short handlers, and tasks with ``taskExecutor``. They use its
///   state directly.
/// - *Other tasks* send work to the bus thread through the ``BusWorkQueue``. Its lock is held only for one append or one swap.
///   The bus thread answers by resuming continuations and through the queues of received events.
/// - ZeroMQ's own I/O thread reads and writes. None of our code runs there.
/// - If clients have patterns for endpoints, one more thread looks for the instances (``EndpointWatch``).
///
/// A process has one bus. Close it before the process ends: closing flushes replies and fails pending requests.
package final class Bus: Sendable {
    let context: ZeroMQContext
    let security: BusSecurity
    let workQueue: BusWorkQueue
    let executor: BusExecutor
    let watch: EndpointWatch

    /// - Throws: ``BusError`` if the system has no resources for a socket or a thread.
    package init(security: BusSecurity = .loopbackOnly, logger: Logger) throws(BusError) {
        let workQueue = try BusWorkQueue()
        let watch = try EndpointWatch(logger: logger)
        let executor = BusExecutor(workQueue: workQueue)
        let context = try ZeroMQContext()
        do {
            try DedicatedThread.start {
                msi_name_thread("msi-bus")
                BusLoop(workQueue: workQueue, executor: executor, context: context, logger: logger).run()
            }
        } catch {
            context.terminate()
            throw BusError(.system, "cannot start the bus thread: \(error)")
        }
        self.context = context
        self.security = security
        self.workQueue = workQueue
        self.executor = executor
        self.watch = watch
        // Before any socket listens.
        if let keyRing = security.keyRing { try attach(try PeerGate(keyRing, context: context, logger: logger)) }
    }

    /// Closes a bus that was not closed, for example after a failed start, without waiting.
    deinit {
        watch.close()
        workQueue.closeUnattended()
    }

    /// Closes every client, server, publisher and subscriber of this bus. Returns when all submitted replies and events are sent,
    /// or after LINGER, a few seconds.
    package func close() async {
        watch.close()
        await workQueue.close()
    }

    /// Runs tasks on the bus thread. After the thread has ended it runs them on Swift's global executor.
    ///
    /// Use it for short tasks that mostly make requests. A task that computes for milliseconds or blocks delays every request of
    /// the process.
    package var taskExecutor: any TaskExecutor { executor }

    func submit(_ work: BusWork) -> Bool {
        workQueue.submit(work)
    }

    /// Hands a participant over to the bus thread. Closes it if the bus is closed already.
    func attach(_ participant: any BusParticipant) throws(BusError) {
        guard !workQueue.submit(.attach(participant)) else { return }
        participant.close()
        throw BusError(.closed, "the bus is closed")
    }

    /// Hands a client or a subscriber over to the bus thread, and then watches for the instances of its patterns.
    ///
    /// - Parameter known: The instances that it knows.
    func attach(
        _ participant: any BusParticipant, watching endpoints: ClientEndpoints, known: [String]
    ) throws(BusError) -> EndpointWatch.ID {
        try attach(participant)
        do {
            return try watch.add(endpoints, known: known) { [workQueue] in workQueue.submit(.found(participant, instances: $0)) }
        } catch {
            abandon(participant)
            throw error
        }
    }

    /// Closes a participant and waits for the end. Has no effect on a closed one.
    func detach(_ participant: any BusParticipant) async {
        await withCheckedContinuation { continuation in
            if !workQueue.submit(.detach(participant, done: continuation)) { continuation.resume() }
        }
    }

    /// Closes the participant of a deallocated owner, unless the owner or the bus has closed it already.
    func abandon(_ participant: any BusParticipant) {
        _ = workQueue.submit(.detach(participant, done: nil))
    }
}

/// Why a bus, or one of its sockets, cannot be opened.
package struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A short fixed word, fit for a metric label.
    package enum Code: String, Sendable {
        /// An endpoint that is not `ipc://<path>` or `tcp://<host>:<port>`.
        case invalidEndpoint = "invalid_endpoint"
        /// Another process serves that endpoint.
        case addressInUse = "address_in_use"
        /// The bus is closed.
        case closed
        /// The operating system refused; the message has the details.
        case system
    }

    package let code: Code
    /// One sentence for the operator, with the endpoint.
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

/// The times of the bus that depend on each other.
package enum BusTimes {
    /// How long a peer may be silent, despite heartbeats, before its connection counts as lost. A client sends a heartbeat after
    /// each third of this time, so that it notices a lost connection after two thirds at the earliest.
    package static let silence = Duration.seconds(3)

    /// The minimum gap that counts as a pause of the process. It is shorter than two thirds of ``silence``: no work begins
    /// for a peer that may have given up during the pause.
    package static let minPause = silence / 2

    /// How long a client waits for a reply, unless the caller says otherwise.
    package static let requestTimeout = Duration.seconds(5)

    /// How long a handler may take for an answer whose size it does not know in advance, such as a search. The rest of
    /// ``requestTimeout`` is for the transport of the request and of the reply. Without it, the reply to a long search would
    /// arrive after the client has given up.
    package static let maxSearchTime = requestTimeout - .seconds(1)
}

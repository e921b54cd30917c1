import CZeroMQ
import Logging

/// What the bus thread does: work from the outbox, messages from the sockets, time.
///
/// All of it, and every participant, belongs to that thread alone, so that nothing here needs a lock.
final class BusLoop {
    private let outbox: Outbox
    private let context: ZeroMQContext
    private let logger: Logger
    private var participants: [any BusParticipant] = []
    /// The wake-up descriptor and then every participant's sockets, in the order of `places`.
    private var pollItems: [zmq_pollitem_t] = []
    private var places: [(participant: any BusParticipant, socket: Int)] = []
    private var batch: [BusWork] = []

    /// The longest that the thread sleeps: a bound for the conversion, not a rhythm.
    private static let longestSleep: Int64 = 3_600_000

    init(outbox: Outbox, context: ZeroMQContext, logger: Logger) {
        self.outbox = outbox
        self.context = context
        self.logger = logger
    }

    func run() {
        collectPollItems()
        while true {
            let taken = outbox.take(into: &batch)
            let now = MonotonicMilliseconds.monotonicNow()
            for work in batch { perform(work, now: now) }
            batch.removeAll(keepingCapacity: true)
            if case .last = taken { break }
            let isIdle = if case .nothing = taken { true } else { false }
            receive(waiting: isIdle ? untilNextTick(now) : 0)
            tick()
        }
        for participant in participants { participant.close() }
        participants = []
        places = []
        context.terminate()
        outbox.end()
    }

    private func perform(_ work: BusWork, now: MonotonicMilliseconds) {
        switch work {
        case .request(let client, let request): client.perform(request, now: now)
        case .cancel(let client, let request): client.cancel(request)
        case .reply(let server, let request): server.answer(request)
        case .stopServing(let server): server.stopServing(now: now)
        case .stopHandling(let server): server.stopHandling()
        case .whenDrained(let server, let continuation): server.whenDrained(continuation)
        case .publish(let publisher, let name, let payload): publisher.send(name, payload)
        case .attach(let participant):
            participants.append(participant)
            collectPollItems()
        case .detach(let participant, let done):
            detach(participant)
            done?.resume()
        }
    }

    private func detach(_ participant: any BusParticipant) {
        guard let index = participants.firstIndex(where: { $0 === participant }) else { return }
        participants.remove(at: index)
        participant.close()
        collectPollItems()
    }

    private func collectPollItems() {
        places = participants.flatMap { participant in participant.sockets.indices.map { (participant, $0) } }
        let wake = zmq_pollitem_t(socket: nil, fd: outbox.wakeDescriptor, events: Int16(ZMQ_POLLIN), revents: 0)
        pollItems = [wake] + participants.flatMap { $0.sockets.map(\.pollItem) }
    }

    private func receive(waiting milliseconds: Int64) {
        let ready = pollItems.withUnsafeMutableBufferPointer {
            zmq_poll($0.baseAddress, Int32($0.count), Int(milliseconds))
        }
        guard ready > 0 else {
            if ready < 0, case let fault = ZeroMQFault.last, !fault.isInterruption {
                logger.error("the bus cannot poll its sockets", metadata: ["error": "\(fault)"])
            }
            return
        }
        if pollItems[0].revents != 0 { outbox.clearSignal() }
        let now = MonotonicMilliseconds.monotonicNow()
        for (place, item) in zip(places, pollItems.dropFirst()) where item.revents != 0 {
            place.participant.receive(from: place.socket, now: now)
        }
    }

    private func untilNextTick(_ now: MonotonicMilliseconds) -> Int64 {
        let next = participants.lazy.compactMap(\.nextTick).min() ?? .max
        return next <= now ? 0 : min(next - now, Self.longestSleep)
    }

    private func tick() {
        let now = MonotonicMilliseconds.monotonicNow()
        for participant in participants where participant.nextTick.map({ $0 <= now }) ?? false {
            participant.tick(now: now)
        }
    }
}

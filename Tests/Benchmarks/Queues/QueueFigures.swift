/// The figures of the queues.
struct QueueFigures: Encodable {
    /// Medians of the rounds.
    struct Load: Encodable {
        let inFlight: Int
        /// Messages a second that were accepted and acknowledged by the consumer, from the first message to the last acknowledgement.
        let rate: Double
        /// Messages a second that were accepted.
        let acceptedRate: Double
        let answer: Latency
        /// Of all processes of the queue, in microseconds for each message.
        let processorTime: Double
        /// From a separate run with strace.
        let syncs: Syncs
    }

    struct Syncs: Encodable {
        /// Syncs a second.
        let rate: Double
        let messagesPerSync: Double
    }

    struct Queue: Encodable {
        let name: String
        let loads: [Load]
    }

    let benchmark = "queues"
    let queues: [Queue]

    func show() {
        say(
            Table.row(
                "", ["in flight", "messages/s", "accepted/s", "p50 ms", "p99 ms", "processor µs", "syncs/s", "messages/sync"],
                first: 26))
        for queue in queues {
            for load in queue.loads {
                say(
                    Table.row(
                        queue.name,
                        [
                            "\(load.inFlight)", "\(Int(load.rate))", "\(Int(load.acceptedRate))", "\(load.answer.p50)",
                            "\(load.answer.p99)", "\(load.processorTime)", "\(Int(load.syncs.rate))",
                            "\(load.syncs.messagesPerSync)",
                        ], first: 26))
            }
        }
    }
}

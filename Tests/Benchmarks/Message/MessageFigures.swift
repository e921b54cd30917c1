/// The figures of the message benchmark. Rates and latencies are medians of the rounds.
struct MessageFigures: Encodable {
    struct Process: Encodable {
        let name: String
        /// The CPU time of all its threads in all rounds, in microseconds for each message.
        let processorTime: Double
    }

    /// A process's resident memory, in MiB.
    struct Memory: Encodable {
        let name: String
        /// After the warm-up.
        let begin: Double
        /// After the last round.
        let end: Double
    }

    /// The counts of messages of one load, over all rounds.
    struct Counts: Encodable {
        /// Answered with 201.
        var accepted = 0
        /// Both components were accepted by the emulator; 0 with a sink.
        var relayed = 0
        /// Both components arrived at the phone; 0 with a sink.
        var delivered = 0

        /// Accepted, and not at the phone.
        var lost: Int { accepted - delivered }
    }

    /// One load.
    struct Load: Encodable {
        /// The maximum number of posts in flight.
        let inFlight: Int
        /// Posts a second that were due at equal intervals; absent if each client sent its next one when the previous one was
        /// answered.
        let requestedRate: Double?
        /// Messages a second, from the first post until the phone has the last message, or, with a sink, until all outcomes are
        /// stored.
        let rate: Double
        /// Messages a second that were accepted, from the first post to the last answer.
        let acceptedRate: Double
        /// From the post to the 201. At a rate, from the time when the post was due.
        let answer: Latency
        /// From the 201 to the arrival of the second of the two components at the phone; absent with a sink.
        let phone: Latency?
        let counts: Counts
        let processes: [Process]
    }

    /// The loads on one stack.
    struct Run: Encodable {
        let loads: [Load]
        /// At half of the best rate of `loads`.
        let halfRate: Load
        let memory: [Memory]
    }

    /// The parts alone, with as many in flight.
    struct Part: Encodable {
        let inFlight: Int
        /// Answers a second of a route that needs only the gateway.
        let route: Double
        /// Durable insertions a second into the archive, without a service.
        let insert: Double
        /// Durable insertions a second by the database's C API; absent if it was not measured with as many clients.
        let rawInsert: Double?
        /// Messages a second of the relay on a sink; absent in a smoke run.
        let relay: Double?
    }

    let benchmark: String
    let database: String
    /// FCM is a sink; absent in a smoke run.
    let sink: Run?
    /// FCM is the emulator, with a phone.
    let phone: Run
    let parts: [Part]
    /// The time of one sync of the disk, in milliseconds.
    let sync: Latency
    /// The rate of one client, divided by the durable insertions of one client by the database's C API.
    let oneClientShare: Double?
}

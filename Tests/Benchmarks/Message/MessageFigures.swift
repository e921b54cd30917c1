/// The figures of the message benchmark.
struct MessageFigures: Encodable {
    struct Process: Encodable {
        let name: String
        /// The CPU time of all its threads, in microseconds for each message.
        let processorTime: Double
        /// Memory at the end, in MiB.
        let resident: Double?
    }

    /// The counts of messages for one number of clients, over all rounds.
    struct Counts: Encodable {
        /// Answered with 201.
        var accepted = 0
        /// Both components were accepted by the emulator.
        var relayed = 0
        /// Both components arrived at the phone.
        var delivered = 0

        /// Accepted, and not at the phone.
        var lost: Int { accepted - delivered }
    }

    /// Milliseconds.
    struct Latency: Encodable {
        let p50: Double
        let p99: Double
    }

    /// The load of one number of clients, each with one post in flight.
    struct Load: Encodable {
        let inFlight: Int
        /// Messages a second, from the first post to the last message's arrival at the phone: the median of the rounds.
        let rate: Double
        /// Messages a second that were accepted, from the first post to the last answer: the median of the rounds.
        let acceptedRate: Double
        /// From the post to the 201.
        let answer: Latency
        /// From the post to the arrival of the second of the two components at the phone.
        let phone: Latency
        let accepted: Int
        let relayed: Int
        let delivered: Int
        let lost: Int
        let processes: [Process]
        /// The parts alone, with as many in flight: answers a second of a route that needs only the gateway, durable insertions a
        /// second into the archive, and messages a second of the relay on a sink that answers at once, unless this is a smoke run.
        let route: Double
        let insert: Double
        let relay: Double?
    }

    struct Database: Encodable {
        let database: String
        let loads: [Load]
        let withoutPhone: WithoutPhone
    }

    /// The same load while no phone is subscribed. The difference is the cost of watching the phone.
    struct WithoutPhone: Encodable {
        let inFlight: Int
        /// Messages a second that FCM has accepted.
        let rate: Double
        let processes: [Process]
    }

    let benchmark = "message"
    let databases: [Database]
}

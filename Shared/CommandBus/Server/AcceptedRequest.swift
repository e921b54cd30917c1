import FoundationEssentials

/// A request that a server has accepted: it will be answered, once.
struct AcceptedRequest: Sendable {
    /// The number under which the bus thread keeps the way back.
    let ticket: UInt64
    let header: [UInt8]
    let payload: Data
}

/// The answer to an accepted request.
struct OutgoingReply: Sendable {
    let ticket: UInt64
    let reply: Reply
}

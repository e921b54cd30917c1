package import Logging
package import Schemas
import Base

/// A request's metadata for its handler.
package struct CommandContext: Sendable {
    private let header: SharedHeader
    private let time: RequestTime?
    private let serverLogger: Logger

    /// The request's id, chosen by its client.
    package var id: String { header.fields.id }
    /// The command's name.
    package var command: String { header.fields.command }
    /// The caller's account name, 1 to 200 characters; `nil` if a program makes the request for itself.
    package var actor: String? { header.fields.actor }
    /// The network address of the caller's client, 1 to 64 characters; `nil` if it is unknown.
    package var address: String? { header.fields.address }
    /// The caller's sign-in or token; `nil` if it is not to be checked, as for a program that makes the request for itself.
    package var credential: CredentialHash? { header.fields.credential }
    /// Who asks, for the audit log.
    package var author: AuditAuthor { AuditAuthor(actor: actor, address: address) }
    /// The request's W3C trace context, as sent. If it is valid, it is also the task's own (`ServiceContext.current`), and log
    /// lines and further requests carry it.
    package var traceparent: String? { header.fields.traceparent }
    /// When the client stops waiting, by this process's clock. The value may vary by a few milliseconds.
    package var deadline: UnixMilliseconds? {
        guard let time else { return header.fields.deadline }
        if time.expiry == .max { return nil }
        let now = ClockReading.now
        return now.wall + (time.expiry - now.monotonic)
    }

    package init(
        id: String, command: String, actor: String? = nil, address: String? = nil, traceparent: String? = nil,
        deadline: UnixMilliseconds? = nil, logger: Logger
    ) {
        let fields = RequestHeader(
            id: id, command: command, deadline: deadline, traceparent: traceparent, actor: actor, address: address)
        self.init(SharedHeader(fields), time: nil, logger: logger)
    }

    init(_ header: SharedHeader, time: RequestTime?, logger: Logger) {
        self.header = header
        self.time = time
        serverLogger = logger
    }

    /// The caller's account name, for a command that records it.
    ///
    /// - Throws: ``CommandFailure`` with status `unauthenticated` if the request has none.
    package func requireActor() throws(CommandFailure) -> String {
        guard let actor else {
            throw CommandFailure(
                .unauthenticated, "\(command) requires the caller's account name: the header's \"actor\" is missing")
        }
        return actor
    }

    /// Checks again whether to begin the work. Call it after a wait inside the handler.
    ///
    /// - Throws: ``CommandFailure`` if the client has stopped waiting, or may have during a pause of the process.
    package func checkStillWanted() throws(CommandFailure) {
        if let refusal = time?.refusal(now: .now()) { throw refusal.failure }
    }

    /// Whether lines of this level are logged. Check it before building expensive metadata.
    package func logs(_ level: Logger.Level) -> Bool { serverLogger.logLevel <= level }

    /// A logger with the request's id and command in every line. It is made on demand, since most requests log nothing.
    package var logger: Logger {
        var logger = serverLogger
        logger[metadataKey: "command_id"] = "\(id)"
        logger[metadataKey: "command"] = "\(command)"
        return logger
    }
}

/// The time until which a request may be begun, on this process's own clock.
struct RequestTime: Sendable {
    /// When its client stops waiting; `.max` if that is unknown.
    let expiry: MonotonicMilliseconds
    private let pausesBefore: Int
    private let watch: PauseWatch

    /// - Parameter arrival: When the request was read.
    init(_ header: RequestHeader, arrival: RequestArrival, watch: PauseWatch) {
        let now = arrival.moment
        if let timeout = header.timeout {
            expiry = now.monotonic + min(max(timeout, 0), .year)
        } else if let deadline = header.deadline {
            // A later step of the wall clock changes nothing.
            expiry =
                deadline <= now.wall
                ? now.monotonic : now.monotonic + min(deadline - now.wall, .year)
        } else {
            expiry = .max
        }
        pausesBefore = arrival.pauses
        self.watch = watch
    }

    /// Why the request must not be begun; `nil` if it may.
    func refusal(now: MonotonicMilliseconds) -> (reason: RefusedRequests.Reason, failure: CommandFailure)? {
        if expiry <= now {
            return (.deadlineExceeded, CommandFailure(.deadlineExceeded, "the deadline passed before the work began"))
        }
        if watch.hasPaused(since: pausesBefore, now: now) { return (.paused, .afterPause) }
        return nil
    }
}

/// When a request was read.
struct RequestArrival: Sendable {
    let moment: ClockReading
    /// The number of pauses of the process until then; see ``PauseWatch``.
    let pauses: Int
}

extension CommandFailure {
    /// The failure of a request that waited during a pause of the process.
    static let afterPause = CommandFailure(
        .unavailable, "the service did not run for a while, and the request may be older than it seems; not done")
}

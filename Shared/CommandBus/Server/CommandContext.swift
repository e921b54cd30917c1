package import Logging
package import Schemas

/// What a handler knows of a request beside its payload.
package struct CommandContext: Sendable {
    private let header: SharedHeader
    private let time: RequestTime?
    private let serverLogger: Logger

    /// The request's id, chosen by its client.
    package var id: String { header.fields.id }
    /// The command's name.
    package var command: String { header.fields.command }
    /// On whose behalf the request is made.
    package var actor: String? { header.fields.actor }
    /// The W3C trace context that the request belongs to, as it was sent. Where it is one, it is also the task's own
    /// (`ServiceContext.current`): log lines and further requests carry it by themselves.
    package var traceparent: String? { header.fields.traceparent }
    /// When the client stops waiting, Unix milliseconds by this process's clock; it may differ a little each time.
    package var deadline: UnixMilliseconds? {
        guard let time else { return header.fields.deadline }
        if time.expiry == .max { return nil }
        let now = BusMoment.now
        return now.wall + (time.expiry - now.monotonic).rawValue
    }

    package init(
        id: String, command: String, actor: String? = nil, traceparent: String? = nil, deadline: UnixMilliseconds? = nil,
        logger: Logger
    ) {
        let fields = RequestHeader(id: id, command: command, deadline: deadline, traceparent: traceparent, actor: actor)
        self.init(SharedHeader(fields), time: nil, logger: logger)
    }

    init(_ header: SharedHeader, time: RequestTime?, logger: Logger) {
        self.header = header
        self.time = time
        serverLogger = logger
    }

    /// Asks once more whether the work is to be begun: for what has waited for its turn after the handler was called.
    ///
    /// - Throws: ``CommandFailure`` where the client has stopped waiting by now, or may have while the process did not run.
    package func checkStillWanted() throws(CommandFailure) {
        if let refusal = time?.refusal(now: .now()) { throw refusal }
    }

    /// Whether lines of this level are written: who asks first saves making what nobody reads.
    package func logs(_ level: Logger.Level) -> Bool { serverLogger.logLevel <= level }

    /// Names the request and the command in every line. Made when it is asked for: most requests log nothing.
    package var logger: Logger {
        var logger = serverLogger
        logger[metadataKey: "command_id"] = "\(id)"
        logger[metadataKey: "command"] = "\(command)"
        return logger
    }
}

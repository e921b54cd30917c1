package import Logging
package import Schemas

/// What a handler knows of a request beside its payload.
package struct CommandContext: Sendable {
    /// The request's id, chosen by its client.
    package let id: String
    /// The command's name.
    package let command: String
    /// On whose behalf the request is made.
    package let actor: String?
    /// The W3C trace context that the request belongs to, as it was sent. Where it is one, it is also the task's own
    /// (`ServiceContext.current`): log lines and further requests carry it by themselves.
    package let traceparent: String?
    /// When the client stops waiting, Unix milliseconds.
    package let deadline: UnixMilliseconds?
    private let serverLogger: Logger

    package init(
        id: String, command: String, actor: String? = nil, traceparent: String? = nil, deadline: UnixMilliseconds? = nil,
        logger: Logger
    ) {
        self.id = id
        self.command = command
        self.actor = actor
        self.traceparent = traceparent
        self.deadline = deadline
        serverLogger = logger
    }

    init(_ header: RequestHeader, logger: Logger) {
        self.init(
            id: header.id, command: header.command, actor: header.actor, traceparent: header.traceparent,
            deadline: header.deadline, logger: logger)
    }

    /// Names the request and the command in every line. Made when it is asked for: most requests log nothing.
    package var logger: Logger {
        var logger = serverLogger
        logger[metadataKey: "command_id"] = "\(id)"
        logger[metadataKey: "command"] = "\(command)"
        return logger
    }
}

package import Base

/// The first frame of a request.
///
/// `{"id":"7f3a…","command":"area.add","timeout":5000,"deadline":1763712000123,"traceparent":"00-…","actor":"ann"}`
package struct RequestHeader: Codable, Checked, Hashable, Sendable {
    /// Chosen by the client and returned with the reply. It is unique among the client's pending requests.
    package let id: String
    /// The command's name.
    package let command: String
    /// How long the client waits. It counts from the arrival at the service, so the two clocks need not agree.
    /// It takes precedence over ``deadline``.
    package let timeout: Milliseconds?
    /// When the client stops waiting. Work that has not begun by then is not done.
    package let deadline: UnixMilliseconds?
    /// The W3C trace context that the request belongs to.
    package let traceparent: String?
    /// The caller's account name, 1 to 200 characters. `nil` if a program makes the request for itself.
    package let actor: String?
    /// The network address of the caller's client, 1 to 64 characters. `nil` if it is unknown, or a program makes the request for
    /// itself.
    package let address: String?
    /// The caller's sign-in or token, for commands that check it again. `nil` if a program makes the request for itself.
    package let credential: CredentialHash?

    package init(
        id: String, command: String, timeout: Milliseconds? = nil, deadline: UnixMilliseconds? = nil, traceparent: String? = nil,
        actor: String? = nil, address: String? = nil, credential: CredentialHash? = nil
    ) {
        self.id = id
        self.command = command
        self.timeout = timeout
        self.deadline = deadline
        self.traceparent = traceparent
        self.actor = actor
        self.address = address
        self.credential = credential
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, command, timeout, deadline, traceparent, actor, address, credential
    }

    package func check() throws(SchemaViolation) {
        try TextLimits(max: 100).check(id, CodingKeys.id)
        try TextLimits(max: 100).check(command, CodingKeys.command)
        try TextLimits.sender.check(actor, CodingKeys.actor)
        try TextLimits.address.check(address, CodingKeys.address)
    }
}

/// A request's header as a frame: headers are read and written twice a round trip.
extension RequestHeader {
    /// Appends the header as a frame: the bytes that ``JSONCoder`` would write, without its cost.
    ///
    /// - Parameter timeout: The remaining time, which replaces the header's.
    package func append(to json: inout JSONBytes, timeout: Milliseconds? = nil) {
        json.append("{")
        if let actor {
            json.append("\"actor\":")
            json.append(text: actor)
            json.append(",")
        }
        if let address {
            json.append("\"address\":")
            json.append(text: address)
            json.append(",")
        }
        json.append("\"command\":")
        json.append(text: command)
        if let credential {
            json.append(",\"credential\":")
            json.append(text: credential.description)
        }
        if let deadline {
            json.append(",\"deadline\":")
            json.append(deadline)
        }
        json.append(",\"id\":")
        json.append(text: id)
        if let timeout = timeout ?? self.timeout {
            json.append(",\"timeout\":")
            json.append(timeout)
        }
        if let traceparent {
            json.append(",\"traceparent\":")
            json.append(text: traceparent)
        }
        json.append("}")
    }

    /// Fast path: reads the common form; `nil` for every other form, which the general decoder reads.
    package init?(plain bytes: UnsafeRawBufferPointer) {
        var (id, command, traceparent, actor, address): (String?, String?, String?, String?, String?)
        var credential: CredentialHash?
        var (timeout, deadline): (Milliseconds?, UnixMilliseconds?)
        var reader = FastReader(bytes)
        let isRead = reader.object { reader in
            if reader.name("id") { return id.takeOnce(reader.headerName()) }
            if reader.name("command") { return command.takeOnce(reader.headerName()) }
            if reader.name("timeout") { return timeout.takeOnce(reader.milliseconds()) }
            if reader.name("deadline") { return deadline.takeOnce(reader.moment()) }
            if reader.name("traceparent") { return traceparent.takeOnce(reader.text()) }
            if reader.name("actor") { return actor.takeOnce(reader.text(within: .sender)) }
            if reader.name("address") { return address.takeOnce(reader.text(within: .address)) }
            return reader.name("credential") && credential.takeOnce(reader.text().flatMap { CredentialHash($0) })
        }
        guard isRead, reader.isAtEnd(), let id, let command else { return nil }
        self.init(
            id: id, command: command, timeout: timeout, deadline: deadline, traceparent: traceparent, actor: actor,
            address: address, credential: credential)
    }

    /// The id of an invalid header, so that the sender can assign the error to its request; empty if it cannot be read.
    package static func readableID(in frame: [UInt8]) -> String {
        let id = frame.withUnsafeBytes { JSONCoder.text(of: "id", inDamaged: $0) }
        guard let id, id.unicodeScalars.count <= 100 else { return "" }
        return id
    }
}

extension FastReader {
    /// An id or a command that is certainly within the schema's limits.
    fileprivate mutating func headerName() -> String? {
        guard let text = text(), text.utf8.count <= 100, !text.isBlank else { return nil }
        return text
    }

    /// A text that is within the schema's limits.
    fileprivate mutating func text(within limits: TextLimits) -> String? {
        guard let text = text(), limits.problem(with: text) == nil else { return nil }
        return text
    }
}

/// The first frame of a reply: `{"id":"7f3a…","status":"ok"}`.
package struct ReplyHeader: Codable, Hashable, Sendable {
    /// The request's id; empty if it could not be read.
    package let id: String
    package let status: ReplyStatus

    package init(id: String, status: ReplyStatus) {
        self.id = id
        self.status = status
    }
}

/// The outcome of a command. The list is closed: clients in other languages may switch over it.
package enum ReplyStatus: String, ClosedEnum {
    /// Done; the payload is the command's reply.
    case ok
    /// The request breaks a rule that the payload's `message` names; sending it again changes nothing.
    case invalid
    /// The request must name its actor.
    case unauthenticated
    /// The actor lacks the right.
    case forbidden
    /// The object of the request does not exist.
    case notFound = "not_found"
    /// The request contradicts stored data.
    case conflict
    /// Too many requests are pending. Nothing was done; try again later.
    case overloaded
    /// The service or one of its dependencies is unreachable; try again later.
    case unavailable
    /// There is no room to store more. Stored messages are safe and are still sent.
    case storageFull = "storage_full"
    /// The deadline passed first.
    case deadlineExceeded = "deadline_exceeded"
    /// The service has failed; its log says more.
    case `internal`
}

/// A reply's header as a frame.
extension ReplyHeader {
    /// Appends the header as a frame: the bytes that ``JSONCoder`` would write, without its cost.
    package func append(to json: inout JSONBytes) {
        json.append("{\"id\":")
        json.append(text: id)
        if status == .ok {
            json.append(",\"status\":\"ok\"}")
        } else {
            json.append(",\"status\":")
            json.append(text: status.rawValue)
            json.append("}")
        }
    }
}

/// The id of a W3C trace context's trace: 32 lower-case hexadecimal digits in JSON. It is the `X-Request-Id` of an HTTP request.
package struct TraceID: Hashable, Sendable {
    /// The 32 digits.
    package let description: String
}

extension TraceID: TextCodable {
    /// Reads 32 hexadecimal digits of either case, not all of them zero.
    package init?(_ description: String) {
        guard description.utf8.count == 32, description.utf8.allSatisfy({ $0.hexadecimalValue < 16 }),
            !description.utf8.allSatisfy({ $0 == UInt8(ascii: "0") })
        else { return nil }
        self.description = description.lowercased()
    }

    package static var expected: String { "32 hexadecimal digits (a trace id)" }
    package static var pattern: String { "^[0-9A-Fa-f]{32}$" }
    package static var example: String { "4bf92f3577b34da6a3ce929d0e0e4736" }
}

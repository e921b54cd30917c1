package import JSON
package import Time

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

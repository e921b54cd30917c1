import CommandBus
import Schemas
import ServiceLifecycle

/// The gateway's access to the cube service. It forwards commands, and answers reads from a copy of the whole cube.
///
/// While the cube service is away, the copy is used for a grace period.
struct CubeService: Sendable {
    private let client: CommandClient
    private let version: FollowedVersion<CubeChanged>
    private let copy: FollowedCopy<CubeCopy, CubeChanged>

    /// - Parameter grace: How long the copy may be used after the cube service was last heard.
    init(client: CommandClient, version: FollowedVersion<CubeChanged>, grace: Duration) {
        self.client = client
        self.version = version
        copy = FollowedCopy(of: version, grace: grace) { try await client.readCube(known: $0) }
    }

    /// Follows the cube.
    var background: [any Service] { [version, copy] }

    /// Until when the copy may be used if the cube service stays silent; `nil` if it may not be used.
    var copyUsableUntil: ContinuousClock.Instant? { copy.usableUntil }

    /// The copy for the gateway's file; `nil` before there is one.
    var kept: KeptCube? {
        copy.kept.map { copy, confirmed in
            KeptCube(confirmed: UnixMilliseconds(of: confirmed), version: copy.version, channels: copy.channels)
        }
    }

    /// Grows with each change of what is kept.
    var copyRevision: Int { copy.revision }

    /// Uses the copy of the gateway's file.
    func restore(_ kept: KeptCube) throws {
        guard let confirmed = kept.confirmed.instant else { return }
        copy.restore(try CubeCopy(version: kept.version, channels: kept.channels), confirmed: confirmed)
    }

    /// The current cube. It may lag by a moment.
    ///
    /// - Throws: ``CommandFailure`` if there is no usable copy and the cube service does not answer.
    func current() async throws -> CubeCopy {
        try await copy.current()
    }

    /// The current subject of a topic key; `nil` if there is none. It may lag by a moment.
    ///
    /// - Throws: ``CommandFailure`` if there is no usable copy and the cube service does not answer.
    func subject(of topicKey: TopicKey) async throws -> CubeAccess.Entry? {
        try await copy.current().access[topicKey]
    }

    /// Whether a caller may send to a topic.
    ///
    /// - Throws: ``CommandFailure`` if there is no usable copy and the cube service does not answer.
    func maySend(_ principal: Principal, to topic: TopicKey) async throws -> Bool {
        if principal.maySendEverywhere { return true }
        return try await copy.current().access.maySend(principal, to: topic)
    }

    /// The topics that a caller may send to; `nil` for all.
    ///
    /// - Throws: ``CommandFailure`` if there is no usable copy and the cube service does not answer.
    func topics(for principal: Principal) async throws -> [TopicKey]? {
        if principal.maySendEverywhere { return nil }
        return try await copy.current().access.topics(for: principal)
    }

    /// A message as a caller sees it: without the follow-ups whose topics it may not see.
    ///
    /// - Throws: ``CommandFailure`` if there is no usable copy and the cube service does not answer.
    func visible(_ message: Message, to principal: Principal) async throws -> Message {
        try await visible([message], to: principal)[0]
    }

    /// Messages as a caller sees them.
    func visible(_ messages: [Message], to principal: Principal) async throws -> [Message] {
        guard !principal.maySendEverywhere, messages.contains(where: { $0.followUps != nil }) else { return messages }
        let access = try await copy.current().access
        return messages.map { message in
            message.withFollowUps { access.maySend(principal, to: $0) }
        }
    }

    /// Refuses a caller who may not send to a topic.
    ///
    /// - Parameter names: The names of channel, area and subject, for the text of the error.
    /// - Throws: ``Problem``, or ``CommandFailure``.
    func requireSend(_ principal: Principal, to topic: TopicKey, _ names: CubeNames) async throws {
        guard try await !maySend(principal, to: topic) else { return }
        let isInScope = principal.scope?.contains { $0.contains(topic) } ?? true
        throw Problem(
            .forbidden,
            "\(isInScope ? "\(principal.account)" : "This token of \(principal.account), by its scope,") may not send to the subject "
                + "\"\(names.channel) / \(names.area) / \(names.subject)\".",
            field: "topic_key")
    }

    /// Makes a change.
    func edit<Edit: CubeEditing>(
        _ command: Edit, for caller: RequestContext
    ) async throws -> CubeEdit<Edit.Value> where Edit.Reply == CubeEdit<Edit.Value> {
        let edit = try await client.request(command, context: caller)
        copy.edited(AppliedCubeEdit(command, edit))
        return edit
    }
}

extension Message {
    /// The message with those of its follow-ups whose topic is wanted.
    fileprivate func withFollowUps(in isWanted: (TopicKey) -> Bool) -> Message {
        let kept = zip(followUps ?? [], followUpTopics ?? []).filter { isWanted($1) }
        var message = self
        message.followUps = kept.isEmpty ? nil : kept.map(\.0)
        message.followUpTopics = kept.isEmpty ? nil : kept.map(\.1)
        return message
    }
}

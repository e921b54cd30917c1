import Bus
import Schemas
import ServiceLifecycle

/// The gateway's access to the cube service. It forwards commands, and answers reads from a copy of the whole cube.
///
/// While the cube service is away, the copy is used for a grace period.
struct CubeService: Sendable {
    private let client: CommandClient
    private let version: FollowedVersion<CubeChanged>
    private let copy: FollowedCopy<CubeCopy, CubeChanged>

    /// - Parameters:
    ///   - grace: How long the copy may be used after the cube service was last heard.
    ///   - gapTimeout: How long the edits of a version that is known may be missing, before the whole cube is read.
    init(
        client: CommandClient, version: FollowedVersion<CubeChanged>, grace: Duration,
        gapTimeout: Duration = .milliseconds(50)
    ) {
        self.client = client
        self.version = version
        copy = FollowedCopy(of: version, grace: grace, gapTimeout: gapTimeout) { try await client.readCube(known: $0) }
    }

    /// Calls a function with each version that the cube service announces.
    func observe(_ observer: @escaping @Sendable (CubeVersion) -> Void) {
        version.observe { observer($0.version) }
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

    /// A page of the archive by the places that subjects have now.
    func placed(_ command: ListMessages) async -> ListMessages { command.with(await placed(command.filter)) }

    /// A filter of messages whose channel and area are those in which subjects are now. Without a usable copy of the cube, topic keys tell.
    func placed(_ filter: MessageFilter) async -> MessageFilter {
        guard filter.channel != nil || filter.area != nil, let copy = try? await copy.current() else { return filter }
        return copy.access.placed(filter)
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
        guard !principal.maySendEverywhere else { return }
        try Self.requireSend(principal, to: topic, names, by: try await copy.current().access)
    }

    /// As ``requireSend(_:to:_:)``, by the lists of one version of the cube.
    static func requireSend(
        _ principal: Principal, to topic: TopicKey, _ names: CubeNames, by access: CubeAccess
    ) throws(Problem) {
        guard !access.maySend(principal, to: topic) else { return }
        let isInScope = principal.scope.map { access.contains(topic, in: $0) } ?? true
        throw Problem(
            .forbidden,
            "\(isInScope ? "\(principal.account)" : "This token of \(principal.account), by its scope,") may not send to the subject "
                + "\"\(names.channel) / \(names.area) / \(names.subject)\".",
            field: "topic_key")
    }

    /// Makes a change.
    func edit<Edit: CubeEditing>(
        _ command: Edit, for caller: CallerContext
    ) async throws -> CubeEdit<Edit.Value> {
        let edit = try await client.request(command, context: caller)
        let made = AppliedCubeEdit(command, newID: Edit.newID(in: edit.value))
        copy.edited(VersionedCubeEdit(version: edit.version, edit: made))
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

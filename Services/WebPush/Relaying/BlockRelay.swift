import Bus
import Base
import Logging
import Schemas
import ServiceKit
import Store
import Synchronization

/// Answers `push.relay`: sends one push to each subscription of a block, and returns an outcome for each.
final class BlockRelay: Sendable {
    private let subscriptions: Subscriptions
    private let requests: PushRequests
    private let sender: any PushSender
    private let ended: EndedSubscriptions
    /// A repeated command waits until the first one has ended.
    private let running = KeyedLock<ObjectID>()
    private let sent = Mutex(SentPushes())

    /// A subscription is read and its push encrypted in about 0.2 ms. Parts of this size keep all processors busy.
    private static let partSize = 64

    private typealias Prepared = Result<WebPushRequest, WebPushFailure>

    init(_ subscriptions: Subscriptions, requests: PushRequests, sender: any PushSender, ended: EndedSubscriptions) {
        self.subscriptions = subscriptions
        self.requests = requests
        self.sender = sender
        self.ended = ended
    }

    /// - Throws: ``SchemaViolation`` for a push of another transport; ``CommandFailure`` if the store cannot be read.
    func relay(_ command: RelayPush, _ context: CommandContext) async throws -> RelayPush.Reply {
        guard command.transport == .webpush else {
            throw SchemaViolation(field: "transport", problem: "expected \"webpush\"")
        }
        guard let tokens = command.tokens, command.validateOnly != true else {
            throw SchemaViolation(field: "tokens", problem: "expected ids of subscriptions, and a push that is sent")
        }
        let message = try WebPushMessage(command.message)
        let now = UnixMilliseconds.now
        let deadline = Self.deadline(of: context, now: now)
        if let expires = command.expires, expires <= now {
            let expired = SendResult(.failure(DeliveryError(.expired)))
            return RelayPush.Reply(results: tokens.map { _ in expired })
        }
        let ids = tokens.map { ObjectID($0) }
        let results = try await running.take(command.pushID) {
            try await self.send(message, of: command, to: ids.compactMap(\.self), by: deadline)
        }
        report(results.values, of: command, to: context)
        return RelayPush.Reply(
            results: ids.map { id in SendResult(id.flatMap { results[$0] } ?? .failure(Self.unknown.error)) })
    }

    private static let unknown = WebPushFailure(DeliveryError(.unregistered, "there is no such subscription any more"))

    /// The time by which the command must be answered.
    private static func deadline(of context: CommandContext, now: UnixMilliseconds) -> ContinuousClock.Instant {
        let rest = context.deadline.map { Duration(max($0, now) - now) - DeliveryTimes.relayReplyMargin }
        return .now + min(rest ?? DeliveryTimes.maxRelayTime, DeliveryTimes.maxRelayTime)
    }

    private func send(
        _ message: WebPushMessage, of command: RelayPush, to ids: [ObjectID], by deadline: ContinuousClock.Instant
    ) async throws -> [ObjectID: Result<String, DeliveryError>] {
        let known = sent.withLock { $0.names(of: command.pushID) }
        var results: [ObjectID: Result<String, DeliveryError>] = known.mapValues { .success($0) }
        let rest = ids.filter { known[$0] == nil }
        guard ContinuousClock.now < deadline else {
            for id in rest { results[id] = .failure(DeliveryError(.noTime)) }
            return results
        }
        let headers = PushRequests.Headers(message, expires: command.expires, now: .now)
        let prepared = try await prepare(rest, headers)
        var sendable: [ObjectID] = []
        var requests: [WebPushRequest] = []
        var gone: [ObjectID] = []
        for (id, request) in zip(rest, prepared) {
            switch request {
            case .success(let request):
                sendable.append(id)
                requests.append(request)
            case .failure(let failure):
                results[id] = .failure(failure.error)
                if failure.endsSubscription { gone.append(id) }
            }
        }
        let outcomes = requests.isEmpty ? [] : await sender.send(requests, by: deadline)
        var accepted: [ObjectID: String] = [:]
        for (id, outcome) in zip(sendable, outcomes) {
            switch outcome {
            case .success(let name): accepted[id] = name
            case .failure(let failure):
                results[id] = .failure(failure.error)
                if failure.endsSubscription { gone.append(id) }
            }
        }
        sent.withLock { $0.add(accepted, to: command.pushID, at: .now) }
        for (id, name) in accepted { results[id] = .success(name) }
        ended.add(gone)
        return results
    }

    /// Reads the subscriptions and encrypts their pushes, on all processors.
    private func prepare(_ ids: [ObjectID], _ headers: PushRequests.Headers) async throws -> [Prepared] {
        try await withThrowingTaskGroup(of: (Int, [Prepared]).self) { group in
            for begin in stride(from: 0, to: ids.count, by: Self.partSize) {
                let part = Array(ids[begin..<min(begin + Self.partSize, ids.count)])
                group.addTask { [self] in (begin, try await preparePart(part, headers)) }
            }
            var parts: [Int: [Prepared]] = [:]
            for try await (begin, part) in group { parts[begin] = part }
            return parts.sorted { $0.key < $1.key }.flatMap(\.value)
        }
    }

    private func preparePart(_ ids: [ObjectID], _ headers: PushRequests.Headers) async throws -> [Prepared] {
        let found = try await subscriptions.subscriptions(ids)
        var template = PayloadTemplate(headers.message.payload)
        let now = UnixMilliseconds.now
        var prepared: [Prepared] = []
        prepared.reserveCapacity(ids.count)
        for id in ids {
            guard let subscription = found[id] else {
                prepared.append(.failure(Self.unknown))
                continue
            }
            prepared.append(try await requests.request(for: subscription, &template, headers, now: now))
        }
        return prepared
    }

    /// Logs one line for the block, without its content and its endpoints.
    private func report(
        _ results: some Swift.Collection<Result<String, DeliveryError>>, of command: RelayPush, to context: CommandContext
    ) {
        let errors = results.compactMap { result in if case .failure(let error) = result { error } else { nil } }
        // A browser that was uninstalled is no failure.
        let failures = errors.filter { !$0.isUnregistered }
        guard let first = failures.first else {
            return context.logger.debug(
                "accepted by push services",
                metadata: ["push_id": "\(command.pushID)", "subscriptions": "\(results.count)", "ended": "\(errors.count)"])
        }
        context.logger.warning(
            "not accepted by push services",
            metadata: [
                "push_id": "\(command.pushID)", "subscriptions": "\(results.count)", "failed": "\(failures.count)",
                "class": "\(first.class.rawValue)", "code": "\(first.code)", "error": "\(first.message)",
            ])
    }
}

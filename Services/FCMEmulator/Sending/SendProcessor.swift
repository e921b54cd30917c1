import HTTPTypes
import Hummingbird
import Schemas
import Time

/// Accepts the sends of both APIs: counts them, checks them against the quotas, and stores the accepted ones.
struct SendProcessor: Sendable {
    let quotas: Adjustable<Quotas>
    let archive: Adjustable<ArchiveLimit>
    let answers: AnswerCounts
    let store: EmulatorStore
    let streams: OpenStreams

    /// Answers a send, and counts the answer.
    ///
    /// - Parameter work: Returns `nil` if the client can no longer be answered.
    func counted(_ work: () async throws -> Response?) async throws -> Response {
        do {
            let response = try await work()
            answers.note(response?.status)
            return response ?? .unanswerable
        } catch let error as GoogleError {
            answers.note(error.httpStatus)
            throw error
        } catch is CancellationError {
            answers.note(nil)
            throw CancellationError()
        }
    }

    /// Processes a request if the project's quota allows it. FCM counts accepted and invalid requests, but neither those that
    /// exceed a quota nor its own failures.
    ///
    /// - Parameter work: Returns the answer, `nil` if the client can no longer be answered, and whether it has accepted anything.
    func withinProjectQuota(
        now: UnixMilliseconds, _ work: (_ isAccepted: inout Bool) async throws -> Response?
    ) async throws -> Response? {
        if let excess = quotas.withLock({ $0.takeFromProject(now: now) }) { throw GoogleError(excess, .none) }
        var isAccepted = false
        var status: HTTPResponse.Status?
        defer {
            let isRefused = status.map { $0.kind == .clientError && $0 != .tooManyRequests } ?? false
            if !isAccepted, !isRefused { quotas.withLock { $0.putBackToProject() } }
        }
        do {
            let response = try await work(&isAccepted)
            status = response?.status
            return response
        } catch let error as GoogleError {
            status = error.httpStatus
            throw error
        }
    }

    /// The additional check of a dry run: whether the phone is registered. FCM does not ask APNs about an iPhone.
    ///
    /// - Throws: ``GoogleError`` for a phone that is not registered.
    func checkRegistration(of target: SendRequest.Target) async throws {
        let registration: String
        switch target {
        case .topic, .condition: return
        case .token(let token) where RegistrationToken.platform(of: token) == .ios: return
        case .token(let name), .installation(let name): registration = name
        }
        guard try await store.isRegistered(registration) else { throw GoogleError.unregistered }
    }

    /// Stores a message and wakes its recipients.
    ///
    /// - Parameters:
    ///   - body: The request's body, as received.
    ///   - content: The body in the HTTP v1 form; `nil` if `body` has that form.
    /// - Throws: ``GoogleError`` for a phone that is not registered, or a used-up quota.
    func accept(
        _ message: SendRequest, name: String, body: [UInt8], content: [UInt8]? = nil, now: UnixMilliseconds
    ) async throws {
        if let excess = quotas.withLock({ $0.take(message.target, isCollapsible: message.isCollapsible, now: now) }) {
            throw GoogleError(excess, message.target.subject)
        }
        let recipients = try await store.accept(
            .init(
                name: name, target: message.target, component: message.component, received: now,
                expires: now + Milliseconds(message.timeToLive), collapseKey: message.isCollapsible ? message.collapseKey : nil,
                body: body, content: content),
            keeping: archive.withLock(\.keep))
        guard let recipients else {
            quotas.withLock { $0.putBack(message.target, isCollapsible: message.isCollapsible) }
            throw GoogleError.unregistered
        }
        streams.wake(recipients)
    }
}

extension SendRequest.Target {
    /// The target's properties for faults and quotas.
    var subject: FaultRule.Subject {
        switch self {
        case .topic(let name): .init(topic: name, target: nil)
        case .token(let token): .init(topic: nil, target: token)
        case .installation(let id): .init(topic: nil, target: id)
        case .condition(let condition): .init(topic: nil, target: condition.text)
        }
    }
}

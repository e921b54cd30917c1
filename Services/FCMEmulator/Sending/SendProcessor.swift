import HTTPTypes
import Hummingbird
import Base
import Schemas
import Synchronization

/// Accepts sends: counts them, checks them against the quotas, and stores the accepted ones.
struct SendProcessor: Sendable {
    let quotas: Adjustable<Quotas>
    let fanOuts: Adjustable<FanOuts>
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
    /// - Parameter body: The request's body, as received.
    /// - Throws: ``GoogleError`` for a phone that is not registered, or a used-up quota.
    func accept(_ message: SendRequest, name: String, body: [UInt8], now: UnixMilliseconds) async throws {
        if let excess = quotas.withLock({ $0.take(message.target, isCollapsible: message.isCollapsible, now: now) }) {
            throw GoogleError(excess, message.target.subject)
        }
        let recipients = try await fannedOut(name, to: message.target) {
            try await store.accept(
                .init(
                    name: name, target: message.target, component: message.component, received: now,
                    expires: now + Milliseconds(message.timeToLive),
                    collapseKey: message.isCollapsible ? message.collapseKey : nil, body: body),
                keeping: archive.withLock(\.keep))
        }
        guard let recipients else {
            quotas.withLock { $0.putBack(message.target, isCollapsible: message.isCollapsible) }
            throw GoogleError.unregistered
        }
        streams.wake(recipients)
    }

    /// Begins the fan-out of a message, and stores it. In this order, because a stream may find the message as soon as it is stored.
    private func fannedOut(
        _ name: String, to target: SendRequest.Target, _ store: () async throws -> EmulatorStore.Recipients?
    ) async throws -> EmulatorStore.Recipients? {
        guard fanOuts.withLock(\.isLimited) else { return try await store() }
        let phones = try await self.store.phones(of: target)
        fanOuts.withLock { $0.begin(name, to: phones, at: .now) }
        do {
            return try await store()
        } catch {
            fanOuts.withLock { $0.cancel(name, at: .now) }
            throw error
        }
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

/// The answers to sends by status, since the emulator's start or the last reset.
final class AnswerCounts: Sendable {
    private let counts = Mutex<[Int: Int]>([:])
    /// The key for sends without an answer.
    private static let none = 0

    /// Counts an answer.
    ///
    /// - Parameter status: `nil` for a send without an answer.
    func note(_ status: HTTPResponse.Status?) {
        counts.withLock { $0[status?.code ?? Self.none, default: 0] += 1 }
    }

    func clear() {
        counts.withLock { $0 = [:] }
    }

    /// Counts by status code, in order; `none` for sends without an answer.
    var document: JSONValue {
        .object(
            counts.withLock(\.self).sorted { $0.key < $1.key }.map { code, count in
                .init(code == Self.none ? "none" : String(code), .integer(count))
            })
    }
}

/// FCM's name of an accepted message: `projects/P/messages/0:1500415314455276%31bd1c9631bd1c96` for one phone. For a topic or
/// condition the id is a plain number.
enum MessageName {
    /// Makes a unique message name in FCM's form: the time in microseconds and a random number for a single phone, a random number for
    /// other targets.
    static func new(project: String, to target: SendRequest.Target, now: UnixMilliseconds) -> String {
        switch target {
        case .topic, .condition:
            return "projects/\(project)/messages/\(number())"
        case .token, .installation:
            let microseconds = String(max(0, now)) + String(1_000 + Int.random(in: 0..<1_000)).dropFirst()
            let random = String(UInt64.random(in: .min ... .max), radix: 16)
            let padding = String(repeating: "0", count: 16 - random.count)
            return "projects/\(project)/messages/0:\(microseconds)%\(padding)\(random)"
        }
    }

    /// The message name that FCM returns for a dry run. For a topic or condition it looks like that of a real send.
    static func dryRun(project: String, to target: SendRequest.Target) -> String {
        switch target {
        case .topic, .condition: "projects/\(project)/messages/\(number())"
        case .token, .installation: "projects/\(project)/messages/fake_message_id"
        }
    }

    /// The part that the phone's SDK sees as the message's id.
    static func id(of name: String) -> String {
        name.split(separator: "/").last.map(String.init) ?? name
    }

    /// Nineteen digits, as in FCM's names.
    private static func number() -> Int64 { .random(in: 1_000_000_000_000_000_000 ... .max) }
}

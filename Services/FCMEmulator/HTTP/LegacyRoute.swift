import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Schemas

/// `POST /fcm/send`: the legacy HTTP API, for senders that still speak it.
struct LegacyRoute: Sendable {
    private static let maxBodyBytes = 262_144

    let key: ServerKey
    let topicPayloadLimit: Int
    let faults: FaultInjector
    let processor: SendProcessor

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        router.resource("fcm/send", [.post: { request, _ in try await processor.counted { try await send(request) } }])
    }

    private func send(_ request: Request) async throws -> Response? {
        guard key.isShown(by: request.headers[.authorization]) else { return Self.text(.unauthorized, "INVALID_KEY") }
        let now = UnixMilliseconds.now()
        let body = try await request.bytes(max: Self.maxBodyBytes)
        do {
            return try await processor.withinProjectQuota(now: now) { isAccepted in
                let message = try LegacyMessage(body: body)
                let subject = message.recipients.subject
                return try await faults.perform(.send, subject, refuse: { Self.refusal($0, of: message, subject) }) {
                    let results = try await accept(message, body, now: now)
                    isAccepted = !results.allSatisfy(\.isOverQuota)
                    return Self.response(to: message, results)
                }
            }
        } catch let refusal as LegacyRefusal {
            return Self.text(.badRequest, refusal.text)
        } catch let error as GoogleError where error.httpStatus == .tooManyRequests {
            return Self.text(error.httpStatus, "", headers: error.headers)
        }
    }

    /// Accepts the messages of a request, one for each recipient.
    private func accept(
        _ message: LegacyMessage, _ body: [UInt8], now: UnixMilliseconds
    ) async throws -> [Result<String, LegacyError>] {
        switch message.recipients {
        case .tokens(let tokens):
            var results: [Result<String, LegacyError>] = []
            for token in tokens {
                results.append(try await accept(message.document("token", token), body, now: now))
            }
            return results
        case .topic(let name):
            return [try await accept(message.document("topic", name), body, now: now)]
        case .condition(let condition):
            return [try await accept(message.document("condition", condition), body, now: now)]
        }
    }

    /// Accepts one message.
    ///
    /// - Returns: The message's id, or the error.
    private func accept(
        _ document: JSONValue, _ body: [UInt8], now: UnixMilliseconds
    ) async throws -> Result<String, LegacyError> {
        do {
            let message = try SendRequest(document, topicPayloadLimit: topicPayloadLimit)
            guard !message.validateOnly else {
                try await processor.checkRegistration(of: message.target)
                return .success(MessageName.id(of: MessageName.dryRun(project: ServiceAccount.projectNumber, to: message.target)))
            }
            let name = MessageName.new(project: ServiceAccount.projectNumber, to: message.target, now: now)
            try await processor.accept(message, name: name, body: body, content: Array(document.utf8), now: now)
            return .success(MessageName.id(of: name))
        } catch let error as GoogleError {
            guard let failure = LegacyError(error) else { throw error }
            return .failure(failure)
        }
    }

    /// An injected error in this API's form.
    private static func refusal(
        _ answer: FaultAnswer, of message: LegacyMessage, _ subject: FaultRule.Subject
    ) -> Response? {
        guard answer.body == .json, let error = answer.googleError(subject), let failure = LegacyError(error),
            error.httpStatus.kind == .clientError
        else { return nil }
        let count = if case .tokens(let tokens) = message.recipients { tokens.count } else { 1 }
        return response(to: message, Array(repeating: .failure(failure), count: count))
    }

    /// The answer for tokens is a list of results. For a topic or condition it is one result, whose id is a number
    /// instead of a text.
    private static func response(to message: LegacyMessage, _ results: [Result<String, LegacyError>]) -> Response {
        switch (message.recipients, results.first) {
        case (.tokens, _), (_, nil): multicast(results)
        case (_, .success(let id)): Response(.ok, ["message_id": .number(id)])
        case (_, .failure(let error)): Response(.ok, ["error": .string(error.rawValue)])
        }
    }

    private static func multicast(_ results: [Result<String, LegacyError>]) -> Response {
        let successes = results.count { if case .success = $0 { true } else { false } }
        let shown = results.map { result -> JSONValue in
            switch result {
            case .success(let id): ["message_id": .string(id)]
            case .failure(let error): ["error": .string(error.rawValue)]
            }
        }
        return Response(
            .ok,
            [
                "multicast_id": .integer(Int64.random(in: 1 ... .max)), "success": .integer(successes),
                "failure": .integer(results.count - successes), "canonical_ids": .integer(0), "results": .array(shown),
            ])
    }

    private static func text(_ status: HTTPResponse.Status, _ text: String, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "text/plain; charset=UTF-8"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text + "\n")))
    }
}

extension LegacyMessage.Recipients {
    fileprivate var subject: FaultRule.Subject {
        switch self {
        case .tokens(let tokens): .init(topic: nil, target: tokens.first)
        case .topic(let name): .init(topic: name, target: nil)
        case .condition(let condition): .init(topic: nil, target: condition)
        }
    }
}

extension Result where Success == String, Failure == LegacyError {
    /// Whether a quota refused it. Such a message does not count towards the quota.
    fileprivate var isOverQuota: Bool {
        switch self {
        case .failure(.deviceRateExceeded), .failure(.topicsRateExceeded): true
        case .success, .failure: false
        }
    }
}

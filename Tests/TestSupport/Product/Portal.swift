package import AsyncHTTPClient
package import Base
import FoundationEssentials
package import NIOCore
package import NIOHTTP1

/// A portal: a client of the gateway's HTTP API.
package struct Portal: Sendable {
    package let port: Int
    package let http: HTTPClient
    /// The bearer token of its requests; `nil` for anonymous ones.
    package let token: String?

    package init(port: Int, http: HTTPClient, token: String?) {
        self.port = port
        self.http = http
        self.token = token
    }

    /// The same portal with another token.
    package func with(token: String?) -> Portal {
        Portal(port: port, http: http, token: token)
    }

    /// - Parameter headers: With a `Cookie` or an `Authorization`, the portal's token is not sent.
    package func call(
        _ method: HTTPMethod, _ path: String, headers: [String: String] = [:], _ body: JSONValue? = nil,
        within limit: TimeAmount = .seconds(60)
    ) async throws -> HTTPAnswer {
        var headers = headers
        if let token, headers["Authorization"] == nil, headers["Cookie"] == nil { headers["Authorization"] = "Bearer \(token)" }
        return try await http.answer(
            method, "http://127.0.0.1:\(port)\(path)", headers: headers, body: body?.data, within: limit)
    }

    package func post(_ message: JSONValue, key: String? = nil, within limit: TimeAmount = .seconds(60)) async throws
        -> HTTPAnswer
    {
        try await call(.POST, "/message", headers: key.map { ["Idempotency-Key": $0] } ?? [:], message, within: limit)
    }

    /// Posts a message that must be accepted.
    ///
    /// - Returns: Its `msi_key`.
    package func accepted(_ message: JSONValue, key: String? = nil) async throws -> String {
        try await made(post(message, key: key), "msi_key")
    }

    /// Creates a channel with an area with a subject of a distribution.
    ///
    /// - Parameter place: The channel's name.
    package func makeSubject(
        _ distribution: String, name: String = "Hours", level: String = "", at place: String = "Library"
    ) async throws -> SubjectPath {
        let channel = try await made(call(.POST, "/channel", ["name": "\(place)", "desc": "Books"]), "_id")
        let area = try await made(call(.POST, "/area/\(channel)", ["name": "Main building", "desc": ""]), "id")
        return try await makeSubject(distribution, name: name, level: level, in: channel, area)
    }

    /// Creates a subject in an existing area.
    package func makeSubject(
        _ distribution: String, name: String = "Hours", level: String = "", in channel: String, _ area: String
    ) async throws -> SubjectPath {
        let subject: JSONValue = [
            "name": "\(name)", "desc": "When it is open", "opt": ["level": "\(level)", "distribution": "\(distribution)"],
        ]
        let id = try await made(call(.POST, "/subject/\(channel)/\(area)", subject), "id")
        return SubjectPath(channel: channel, area: area, subject: id, distribution: distribution)
    }

    /// The answer of `GET /message/:msi_key`.
    package func message(_ msiKey: String) async throws -> JSONValue {
        try await document("/message/\(msiKey)")
    }

    /// Waits until a message's relay record has a state. While the message log is away, for example between a stop and the next
    /// start, the gateway answers 503.
    package func message(_ msiKey: String, hasState state: String, within limit: Duration = .seconds(120)) async throws
        -> JSONValue
    {
        var seen: JSONValue?
        return try await eventually("message \(msiKey) is \(state); last seen: \(seen?["relay"] ?? .null)", within: limit) {
            let answer = try await call(.GET, "/message/\(msiKey)")
            if answer.status == 503 { return nil }
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
            let message = try answer.json
            seen = message
            return message["relay"]?["state"]?.string == state ? message : nil
        }
    }

    /// Whether `GET /health` reports each service as `ok`.
    package func isHealthy() async -> Bool {
        guard let answer = try? await call(.GET, "/health", within: .seconds(60)), answer.status == 200 else { return false }
        // Without the cube service or the people service the gateway works on, and its status is still 200.
        guard case .object(let services)? = try? answer.json["services"] else { return false }
        return services.allSatisfy { $0.value == "ok" }
    }

    /// A document that must be there.
    func document(_ path: String) async throws -> JSONValue {
        let answer = try await call(.GET, path)
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        return try answer.json
    }

    private func made(_ answer: HTTPAnswer, _ identifier: String) throws -> String {
        guard answer.status == 201, let id = try answer.json[identifier]?.string else { throw UnexpectedAnswer(answer) }
        return id
    }
}

/// The path of a subject in the cube.
package struct SubjectPath: Hashable, Sendable {
    package let channel: String
    package let area: String
    package let subject: String
    package let distribution: String

    package var topicKey: String { "\(channel)-\(area)-\(subject)" }

    /// A message to it, in the form of a post.
    package func message(
        title: String = "Closed today", desc: String = "The library", message: String = "The library stays closed."
    ) -> JSONValue {
        [
            "title": "\(title)", "desc": "\(desc)", "message": "\(message)", "topic_key": "\(topicKey)",
            "distribution": "\(distribution)",
        ]
    }
}

/// An unexpected answer, which ends a test.
package struct UnexpectedAnswer: Error, CustomStringConvertible {
    package let answer: HTTPAnswer

    package init(_ answer: HTTPAnswer) {
        self.answer = answer
    }

    package var description: String { "unexpected: \(answer)" }
}

extension Portal {
    /// All documents of a list, in the order of its pages.
    ///
    /// - Parameter member: The name of a page's list.
    package func all(_ member: String, at path: String) async throws -> [JSONValue] {
        var (documents, next): ([JSONValue], String?) = ([], path)
        while let path = next {
            let page = try await document(path)
            documents += page[member]?.elements ?? []
            next = page["next"]?.string
        }
        return documents
    }

    /// The objects of all entries of the audit log with an action, the latest first.
    package func auditedObjects(_ action: String) async throws -> [String] {
        try await all("entries", at: "/audit?limit=200&action=\(action)").compactMap { $0["entry"]?["object"]?["id"]?.string }
    }
}

import Base
import NIOHTTP1
import TestSupport

/// An account that signs in.
struct BenchmarkAccount {
    /// The cookie of its sign-in.
    let cookie: String
    /// The body of `POST /session`.
    let signIn: String

    /// Adds a communicator, and signs in.
    static func make(_ name: String, at portal: Portal) async throws -> BenchmarkAccount {
        let password = "the password of \(name)"
        let added = try await portal.callWhenAvailable(
            "/account", ["account": "\(name)", "password": "\(password)", "role": "communicator"])
        // 409: it was added, and the answer to that was late.
        guard added.status == 201 || added.status == 409 else { throw UnexpectedAnswer(added) }
        let signIn: JSONValue = ["account": "\(name)", "password": "\(password)"]
        let signedIn = try await portal.with(token: nil).callWhenAvailable(
            "/session", headers: ["Origin": "http://127.0.0.1:\(portal.port)"], signIn)
        guard (200..<300).contains(signedIn.status), let cookie = signedIn["Set-Cookie"]?.split(separator: ";").first else {
            throw UnexpectedAnswer(signedIn)
        }
        return BenchmarkAccount(cookie: String(cookie), signIn: String(decoding: signIn.data, as: UTF8.self))
    }
}

extension MessageStack {
    /// The gateway's own origin.
    var origin: String { "http://127.0.0.1:\(portal.port)" }
}

extension Portal {
    /// Posts, and repeats it while the answer is 503: a password takes long to hash on a busy machine.
    fileprivate func callWhenAvailable(
        _ path: String, headers: [String: String] = [:], _ body: JSONValue
    ) async throws -> HTTPAnswer {
        try await eventually("an answer other than 503", within: .seconds(120), every: .milliseconds(500)) {
            let answer = try await call(.POST, path, headers: headers, body)
            return answer.status == 503 ? nil : answer
        }
    }

    /// Creates a channel with ten areas.
    ///
    /// - Returns: Its name.
    func makeChannel(subjects: Int) async throws -> String {
        let name = "Campus"
        func made(_ path: String, _ body: JSONValue, _ field: String) async throws -> String {
            let answer = try await call(.POST, path, body)
            guard answer.status == 201, let id = try answer.json[field]?.string else { throw UnexpectedAnswer(answer) }
            return id
        }
        let channel = try await made("/channel", ["name": "\(name)", "desc": "Everything on campus"], "_id")
        for area in 0..<10 {
            let id = try await made("/area/\(channel)", ["name": "Area \(area)", "desc": "A part of the campus"], "id")
            for subject in 0..<(subjects / 10) {
                _ = try await makeSubject("Information", name: "Subject \(subject)", in: channel, id)
            }
        }
        return name
    }
}

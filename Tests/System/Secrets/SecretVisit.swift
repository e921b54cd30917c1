import AsyncHTTPClient
import FoundationEssentials
import Base
import NIOCore
import NIOHTTP1
import Schemas
import TestSupport
import Testing

@testable import People

/// What a person and a script do with their secrets, right and wrong. All answers are kept for the search.
struct SecretVisit: Sendable {
    let stack: Stack
    let http: HTTPClient
    let search: SecretSearch
    let folder: String

    private var origin: String { "https://127.0.0.1:\(stack.portal.port)" }

    func call(
        _ method: HTTPMethod, _ path: String, headers: [String: String] = [:], _ body: JSONValue? = nil,
        secretAnswer: Bool = false
    ) async throws -> HTTPAnswer {
        let answer = try await http.answer(
            method, origin + path, headers: headers.merging(["Origin": origin]) { given, _ in given }, body: body?.data,
            within: .seconds(60))
        if !secretAnswer {
            search.show(answer.body, at: "the answer to \(method) \(path.prefix(20))")
            search.show(Data("\(answer.headers)".utf8), at: "the headers of the answer to \(method) \(path.prefix(20))")
        }
        return answer
    }

    /// Signs in, with all kinds of credentials.
    func use() async throws {
        let password = search.keep(try stack.firstPassword.text, as: "the first password")
        let token = try String(contentsOfFile: stack.stateDirectory + "/token", encoding: .utf8).filter { !$0.isWhitespace }
        search.keep(token, as: "the operator's token")
        let operatorHeader = ["Authorization": "Bearer \(token)"]
        #expect(try await call(.GET, "/session", headers: operatorHeader).status == 200)

        let cookie = try await signIn(["account": "admin", "password": "\(password)"], "the cookie")
        let confirmed = try await call(.PUT, "/session", headers: cookie, ["password": "\(password)"])
        #expect(confirmed.status == 200, "\(confirmed)")
        let made = try await call(
            .POST, "/token", headers: cookie, ["name": "script", "rights": ["read", "send"]], secretAnswer: true)
        let second = search.keep(try #require(try made.json["secret"]?.string, "\(made)"), as: "the script's token")
        #expect(try await call(.GET, "/message", headers: ["Authorization": "Bearer \(second)"]).status == 200)

        let annsPassword = search.keep("Ann's very own passphrase", as: "Ann's password")
        let added = try await call(
            .POST, "/account", headers: cookie, ["account": "ann", "password": "\(annsPassword)", "role": "communicator"])
        #expect(added.status == 201, "\(added)")
        let invited = try await call(.POST, "/account/ann/invitation", headers: cookie, secretAnswer: true)
        let link = try #require(try invited.json["invitation"]?["link_path"]?.string, "\(invited)")
        let invitation = search.keep(String(link.dropFirst("/#invitation=".count)), as: "the invitation")
        let known = try await call(.POST, "/session/invitation/check", ["invitation": "\(invitation)"])
        #expect(known.status == 200, "\(known)")
        try await setSecondFactor(cookie)

        let typed = search.keep("typed at the command line", as: "the typed password")
        try Data((typed + "\n").utf8).write(to: URL(filePath: folder + "/typed"))
        let end = try await runProgram(
            "/bin/sh", ["-c", #""$0" account password ann < "$1""#, BuiltProduct.path(of: "msi"), folder + "/typed"],
            environment: ["MSI_STATE_DIR": stack.stateDirectory])
        search.show(Data(end.lines.joined(separator: "\n").utf8), at: "the output of msi account")
        #expect(end.exitCode == 0, "\(end.lines)")
        // A service that starts again reads its data again.
        try await stack.killAndReplace("msi-people")
        let anns = try await eventually("Ann's sign-in") {
            try? await signIn(["account": "ann", "password": "\(typed)"], "Ann's cookie")
        }
        #expect(try await call(.DELETE, "/session", headers: anns).status == 204)
    }

    /// A person of the university signs in.
    func useProvider(_ provider: OpenIDTestProvider) async throws {
        try await provider.add("person-17", ["roles": ["staff"]])
        let begun = try await call(.GET, "/session/oidc", secretAnswer: true)
        let flow = try keptCookie("__Host-msi_oidc", of: begun, as: "the flow's cookie")
        let address = try await provider.signIn("person-17", at: try #require(begun["Location"]))
        let code = try #require(address.firstMatch(of: /[?&]code=([^&]+)/))
        search.keep(String(code.1), as: "the provider's code")
        let path = try #require(address.firstRange(of: "/session/oidc/callback"))
        let finished = try await call(.GET, String(address[path.lowerBound...]), headers: ["Cookie": flow], secretAnswer: true)
        #expect(finished.status == 303, "\(finished)")
        let session = try keptCookie("__Host-msi_session", of: finished, as: "the cookie of the provider's person")
        #expect(try await call(.GET, "/session", headers: ["Cookie": session]).status == 200)
        for (number, token) in try await provider.idTokens.enumerated() { search.keep(token, as: "ID token \(number)") }
        // It came back already.
        _ = try await call(.GET, String(address[path.lowerBound...]), headers: ["Cookie": flow])
    }

    private func keptCookie(_ name: String, of answer: HTTPAnswer, as secret: String) throws -> String {
        guard let field = answer.headers["Set-Cookie"].first(where: { $0.hasPrefix(name + "=") }) else {
            throw UnexpectedAnswer(answer)
        }
        let cookie = String(field.prefix { $0 != ";" })
        search.keep(String(cookie.dropFirst(name.count + 1)), as: secret)
        return cookie
    }

    /// `msi status` with a token of the environment, which the gateway's certificate keeps from being sent, and `msi account token`.
    func useCommandLine() async throws {
        let status = try await msi(
            ["status"],
            ["MSI_TOKEN": search.text(of: "the script's token"), "MSI_GATEWAY_URL": origin])
        #expect(status.exitCode == 2, "\(status.lines)")
        let file = stack.stateDirectory + "/token"
        let replaced = try await msi(["account", "token"], [:])
        #expect(replaced.exitCode == 0, "\(replaced.lines)")
        let token = try String(contentsOfFile: file, encoding: .utf8).filter { !$0.isWhitespace }
        search.keep(token, as: "the new operator's token")
        #expect(try await call(.GET, "/session", headers: ["Authorization": "Bearer \(token)"]).status == 200)
    }

    /// A backup beside the state directory, while the product runs.
    func makeBackup() async throws {
        let made = try await msi(["backup", folder + "/backup"], [:])
        #expect(made.exitCode == 0, "\(made.lines)")
    }

    private func msi(_ arguments: [String], _ settings: [String: String]) async throws -> ProgramEnd<Void> {
        let end = try await runProgram(
            "msi", arguments, environment: settings.merging(["MSI_STATE_DIR": stack.stateDirectory]) { $1 })
        search.show(Data(end.lines.joined(separator: "\n").utf8), at: "the output of msi \(arguments[0])")
        return end
    }

    private func setSecondFactor(_ cookie: [String: String]) async throws {
        let path = "/account/admin/second-factor"
        let begun = try await call(.POST, path, headers: cookie, secretAnswer: true)
        let secret = search.keep(try #require(try begun.json["secret"]?.string, "\(begun)"), as: "the TOTP secret")
        let totp = try #require(TOTP(secret: Secret(secret)))
        let code = totp.code(step: TOTP.step(at: .now))
        let set = try await call(.PUT, path, headers: cookie, ["code": "\(code)"], secretAnswer: true)
        let codes = try #require(try set.json["recovery_codes"]?.array, "\(set)")
        for (number, code) in codes.enumerated() {
            search.keep(try #require(code.string), as: "recovery code \(number)")
        }
        let password = try stack.firstPassword.text
        let answer = try await call(.POST, "/session", ["account": "admin", "password": "\(password)"])
        #expect(answer.status == 401, "\(answer)")
        let recovery = try #require(codes.first?.string)
        _ = try await signIn(
            ["account": "admin", "password": "\(password)", "code": "\(recovery)"], "the cookie of the recovery code")
    }

    /// Sends secrets to wrong places, and wrong secrets to the right ones.
    func misuse() async throws {
        let wrong = search.keep("not-the-password-of-admin", as: "a wrong password")
        let token = search.keep("msi_" + String(repeating: "Wrong0token", count: 4).prefix(43), as: "a wrong token")
        let attempts: [(HTTPMethod, String, [String: String], JSONValue?)] = [
            (.POST, "/session", [:], ["account": "admin", "password": "\(wrong)"]),
            (.POST, "/session", [:], ["account": "nobody", "password": "\(wrong)", "code": "\(wrong)"]),
            (.POST, "/session", [:], ["account": "\(wrong)", "password": ["\(wrong)"]]),
            (.POST, "/session", [:], ["account": "admin", "passwort": "\(wrong)"]),
            (.POST, "/session", [:], "\(wrong)"),
            (.GET, "/session", ["Authorization": "Bearer \(token)"], nil),
            (.GET, "/channel", ["Authorization": "Bearer \(token)"], nil),
            (.GET, "/channel", ["Authorization": "\(token)"], nil),
            (.GET, "/session", ["Cookie": "__Host-msi_session=\(token)"], nil),
            (.GET, "/session?token=\(token)", [:], nil), (.GET, "/message?q=\(token)", [:], nil),
            (.GET, "/token/\(token)", [:], nil), (.GET, "/\(token)", [:], nil), (.DELETE, "/session", ["Cookie": token], nil),
            (.POST, "/channel", ["Authorization": "Bearer \(token)", "Idempotency-Key": token], ["name": "n", "desc": ""]),
        ]
        for (method, path, headers, body) in attempts { _ = try await call(method, path, headers: headers, body) }
    }

    private func signIn(_ body: JSONValue, _ name: String) async throws -> [String: String] {
        let answer = try await call(.POST, "/session", body, secretAnswer: true)
        guard answer.status == 201, let field = answer["Set-Cookie"],
            let cookie = field.firstMatch(of: /__Host-msi_session=([^;]+)/)
        else { throw UnexpectedAnswer(answer) }
        #expect(field.contains("HttpOnly") && field.contains("Secure") && field.contains("SameSite=Lax"), "\(name)")
        search.show(answer.body, at: "the answer to a sign-in")
        search.keep(String(cookie.1), as: name)
        return ["Cookie": "__Host-msi_session=\(cookie.1)"]
    }
}

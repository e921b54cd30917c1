import Crypto
import FoundationEssentials
import Base
import MobileApp
import Schemas

/// The hub's routes of persons in memory. As the hub does, it checks what a device signs. An ID token is the name of its person, and the
/// password of everybody is ``password``.
struct TestPersons {
    static let password = "right"
    private static let tokenTime: Int64 = 3_600_000
    private static let nonceTime: Int64 = 120_000

    private struct Device {
        let id: String
        let account: String
        let key: String
    }

    private struct Token {
        let device: String
        let ends: Int64
        var counts = true
    }

    private var accounts: Set<String> = []
    /// Those that have ended are gone.
    private var devices: [Device] = []
    /// What each device has said of how it is reached, by its id.
    private(set) var registrations: [String: JSONValue] = [:]
    private var nonces: [String: Int64] = [:]
    private var lastNonce = 0
    private var lastDevice = 0
    /// In the order of their numbers, from 1.
    private var tokens: [Token] = []
    /// The keys of registrations, by their accounts.
    private var keys: [String: String] = [:]
    private var forgetsNextChallenge = false
    var takesTokens = true
    var challengeStatus = 200
    var tokenStatus = 200
    /// By how many milliseconds the hub's clock is ahead of the phone's.
    var ahead: Int64 = 0

    mutating func add(_ names: [String]) { accounts.formUnion(names) }

    /// The devices of persons are signed out.
    mutating func end(_ names: [String]) { devices.removeAll { names.contains($0.account) } }

    mutating func forgetTokens() { for index in tokens.indices { tokens[index].counts = false } }

    mutating func forgetNextChallenge() { forgetsNextChallenge = true }

    /// The answer to a request, and whether its proof is right: `nil` if it has none.
    ///
    /// - Parameter phone: Now, by the phone's clock.
    /// - Returns: `nil` for the path of something else.
    mutating func answer(to request: HubRequest, phone: Int64) -> (answer: HubAnswer, proof: Bool?)? {
        guard request.path.hasPrefix("/user") else { return nil }
        let now = phone + ahead
        let body = (try? JSONValue(parsing: request.body)) ?? [:]
        switch (request.method, request.path) {
        case (.get, "/user/challenge"): return (challenge(now), nil)
        case (.put, "/user"): return signIn(body, now)
        case (.post, "/user"): return register(body, key: request.headers["Idempotency-Key"], now)
        case (.post, "/user/token"): return exchange(body, now)
        default: return (ofPerson(request, body, now), nil)
        }
    }

    private mutating func challenge(_ now: Int64) -> HubAnswer {
        guard challengeStatus == 200 else { return Self.refusal(challengeStatus) }
        lastNonce += 1
        let nonce = "nonce-\(lastNonce)"
        if !forgetsNextChallenge { nonces[nonce] = now + Self.nonceTime }
        forgetsNextChallenge = false
        return Self.answer(200, ["nonce": .string(nonce), "expires": .integer(now + Self.nonceTime)])
    }

    private mutating func signIn(_ body: JSONValue, _ now: Int64) -> (HubAnswer, Bool?) {
        let key = body["device"]?["key"]?.string ?? ""
        let (problem, isProven) = check(body, by: key, .signIn, subject: Self.subject(of: body["credential"]), now)
        if let problem { return (problem, isProven) }
        guard let account = Self.person(of: body["credential"]) else { return (Self.refusal(401, "password"), isProven) }
        guard accounts.contains(account) else { return (Self.refusal(404), isProven) }
        let known = devices.first { $0.key == key && $0.account == account }
        if known == nil {
            // The key was another person's.
            devices.removeAll { $0.key == key }
            lastDevice += 1
            devices.append(Device(id: TestHub.identifier(of: "device \(lastDevice)"), account: account, key: key))
        }
        guard let device = known ?? devices.last else { return (Self.refusal(500), isProven) }
        var answer: JSONValue = ["person": Self.person(account), "device": .string(device.id)]
        for member in newToken(of: device.id, now).members ?? [] { answer[member.name] = member.value }
        return (Self.answer(200, answer), isProven)
    }

    private mutating func register(_ body: JSONValue, key: String?, _ now: Int64) -> (HubAnswer, Bool?) {
        let point = body["device"]?["key"]?.string ?? ""
        let (problem, isProven) = check(body, by: point, .signIn, subject: Self.subject(of: body["credential"]), now)
        if let problem { return (problem, isProven) }
        guard let account = body["account"]?.string else { return (Self.refusal(400, "account"), isProven) }
        if accounts.contains(account), keys[account] != key || key == nil { return (Self.refusal(409, "account"), isProven) }
        accounts.insert(account)
        keys[account] = key
        return (Self.answer(201, Self.person(account)), isProven)
    }

    private mutating func exchange(_ body: JSONValue, _ now: Int64) -> (HubAnswer, Bool?) {
        guard tokenStatus == 200 else { return (Self.refusal(tokenStatus), nil) }
        guard let device = devices.first(where: { $0.id == body["device"]?.string }) else {
            return (Self.refusal(401, "device"), nil)
        }
        let (problem, isProven) = check(body, by: device.key, .token, subject: device.id, now)
        return (problem ?? Self.answer(200, newToken(of: device.id, now)), isProven)
    }

    /// A request with a token.
    private mutating func ofPerson(_ request: HubRequest, _ body: JSONValue, _ now: Int64) -> HubAnswer {
        guard let device = device(of: request, now) else { return Self.refusal(401, "Authorization") }
        if request.method == .get, request.path == "/user" { return Self.answer(200, Self.person(device.account)) }
        guard request.path.hasPrefix("/user/devices/") else { return Self.refusal(404) }
        let id = String(request.path.dropFirst("/user/devices/".count))
        switch request.method {
        case .put where id == device.id:
            registrations[id] = body
            return Self.answer(200, ["id": .string(id)])
        case .delete:
            devices.removeAll { $0.id == id }
            return HubAnswer(status: 204, body: Data())
        default: return Self.refusal(403)
        }
    }

    private func device(of request: HubRequest, _ now: Int64) -> Device? {
        let number = Self.tokenNumber(of: request).map { $0 - 1 } ?? -1
        guard takesTokens, tokens.indices.contains(number), tokens[number].counts, now < tokens[number].ends else { return nil }
        return devices.first { $0.id == tokens[number].device }
    }

    /// The number of the token that a request has.
    static func tokenNumber(of request: HubRequest) -> Int? {
        let prefix = "Bearer token-"
        guard let text = request.headers["Authorization"], text.hasPrefix(prefix) else { return nil }
        return Int(text.dropFirst(prefix.count))
    }

    private mutating func newToken(of device: String, _ now: Int64) -> JSONValue {
        tokens.append(Token(device: device, ends: now + Self.tokenTime))
        return ["token": .string("token-\(tokens.count)"), "expires": .integer(now + Self.tokenTime)]
    }

    // MARK: Proofs

    /// What is wrong with a proof, as an answer, and whether the signature is right.
    private mutating func check(
        _ body: JSONValue, by point: String, _ purpose: DeviceProof.Purpose, subject: String, _ now: Int64
    ) -> (HubAnswer?, Bool) {
        let nonce = body["nonce"]?.string ?? ""
        let text = DeviceProof.text(purpose, nonce: Secret(nonce), subject: subject)
        let isProven = Self.isSigned(text, by: point, body["proof"]?.string ?? "")
        guard let ends = nonces.removeValue(forKey: nonce), now < ends else { return (Self.refusal(401, "nonce"), isProven) }
        return (isProven ? nil : Self.refusal(401, "proof"), isProven)
    }

    private static func isSigned(_ text: String, by point: String, _ proof: String) -> Bool {
        guard let point = Data(base64URL: point), let key = try? P256.Signing.PublicKey(x963Representation: point),
            let bytes = Data(base64URL: proof), let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes)
        else { return false }
        return key.isValidSignature(signature, for: Data(text.utf8))
    }

    private static func subject(of credential: JSONValue?) -> String {
        let text = credential?["id_token"]?.string ?? credential?["account"]?.string?.lowercased() ?? ""
        return SHA256.hash(data: Data(text.utf8)).hexadecimal
    }

    /// Whose credential it is; `nil` if the password is wrong.
    private static func person(of credential: JSONValue?) -> String? {
        if credential?["provider"]?.string == "google" { return credential?["id_token"]?.string }
        return credential?["password"]?.string == password ? credential?["account"]?.string : nil
    }

    // MARK: Documents

    private static func person(_ account: String) -> JSONValue {
        ["account": .string(account), "role": "student", "created": 0, "identities": []]
    }

    private static func answer(_ status: Int, _ document: JSONValue) -> HubAnswer {
        HubAnswer(status: status, body: document.data)
    }

    private static func refusal(_ status: Int, _ field: String? = nil) -> HubAnswer {
        var problem: JSONValue = ["detail": .string("no \(field ?? "such thing")")]
        problem["field"] = field.map { .string($0) }
        return answer(status, problem)
    }
}

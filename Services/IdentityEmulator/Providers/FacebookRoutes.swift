import Base
import HTTPRouting
import HTTPTypes
import Hummingbird
import Schemas
import ServiceKit

/// Facebook's Graph API, as far as a server signs people in by it.
struct FacebookRoutes: Sendable {
    let people: People
    let traffic: Traffic

    func add(to router: Router<EmulatorRequestContext>) {
        router.get("facebook/\(Provider.graphVersion)/debug_token") { request, context in
            try await answer(request, context) { try debug(request.queryParameters, now: .now) }
        }
        router.get("facebook/\(Provider.graphVersion)/me") { request, context in
            try await answer(request, context) { try await me(request.queryParameters, now: .now) }
        }
    }

    private func answer(
        _ request: Request, _ context: EmulatorRequestContext, _ body: () async throws -> JSONValue
    ) async throws -> Response {
        try await traffic.answer(request, context, of: .facebook) {
            do {
                return Response(.ok, try await body())
            } catch let error as FacebookError {
                return Response(.badRequest, error.document)
            }
        }
    }

    /// What is known of a user's token. That a token is bad is an error inside of the answer.
    private func debug(_ query: QueryParameters, now: UnixMilliseconds) throws(FacebookError) -> JSONValue {
        guard let input = query["input_token"], !input.isEmpty else {
            throw FacebookError(100, "(#100) The parameter input_token is required")
        }
        guard query["access_token"] == "\(IdentityEmulatorAccess.appID)|\(IdentityEmulatorAccess.appSecret)" else {
            throw FacebookError(190, "Invalid OAuth access token signature.")
        }
        guard let token = FacebookToken(input) else {
            let error: JSONValue = ["code": 190, "message": "Invalid OAuth access token data."]
            return ["data": ["error": error, "is_valid": false, "scopes": []]]
        }
        guard let expiry = token.expiry, expiry <= now.seconds else { return ["data": token.data] }
        let error: JSONValue = ["code": 190, "subcode": 463, "message": .string(FacebookError.expired(expiry, now).message)]
        return ["data": token.data.changed(by: ["error": error, "is_valid": false])]
    }

    /// The person of a token, with the fields that the query names.
    private func me(_ query: QueryParameters, now: UnixMilliseconds) async throws -> JSONValue {
        guard let text = query["access_token"], !text.isEmpty else {
            throw FacebookError(2500, "An active access token must be used to query information about the current user.")
        }
        guard let token = FacebookToken(text), token.data["is_valid"] == .boolean(true) else {
            throw FacebookError(190, "Invalid OAuth access token - Cannot parse access token")
        }
        if let expiry = token.expiry, expiry <= now.seconds { throw FacebookError.expired(expiry, now) }
        guard let proof = query["appsecret_proof"] else {
            throw FacebookError(100, "API calls from the server require an appsecret_proof argument")
        }
        // The proof of a token of another app would need that app's secret.
        guard proof == token.proof, token.data["app_id"]?.string == IdentityEmulatorAccess.appID else {
            throw FacebookError(100, "Invalid appsecret_proof provided in the API argument")
        }
        let person = await people.person(token.data["user_id"]?.string ?? "")
        let known = [
            "name": person.text("name"), "first_name": person.text("given_name"), "last_name": person.text("family_name"),
            "email": person.email,
        ]
        let fields = (query["fields"] ?? "id,name").split(separator: ",").map(String.init).filter { $0 != "id" }
        if let unknown = fields.first(where: { known[$0] == nil }) {
            throw FacebookError(100, "(#100) Tried accessing nonexisting field (\(unknown.prefix(40))) on node type (User)")
        }
        let members = fields.compactMap { name in (known[name] ?? nil).map { JSONValue.Member(name, .string($0)) } }
        return .object(members + [.init("id", .string(person.sub))])
    }
}

extension FacebookToken {
    /// The Unix time of its end; `nil` if it has none.
    fileprivate var expiry: Int64? {
        guard let time = data["expires_at"]?.integer, time != 0 else { return nil }
        return time
    }
}

/// An error of the Graph API. All that are used here have HTTP status 400.
struct FacebookError: Error, Hashable {
    let message: String
    let code: Int
    let subcode: Int?

    init(_ code: Int, subcode: Int? = nil, _ message: String) {
        self.message = message
        self.code = code
        self.subcode = subcode
    }

    /// The error about a token that has expired.
    static func expired(_ expiry: Int64, _ now: UnixMilliseconds) -> FacebookError {
        FacebookError(
            190, subcode: 463,
            "Error validating access token: Session has expired on \(expiry). The current time is \(now.seconds).")
    }

    var document: JSONValue {
        var error: JSONValue = ["message": .string(message), "type": "OAuthException", "code": .integer(code)]
        if let subcode { error["error_subcode"] = .integer(subcode) }
        error["fbtrace_id"] = .string("A" + (0..<5).map { _ in UInt8.random(in: 0...255) }.hexadecimal)
        return ["error": error]
    }
}

import HTTPTypes
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// The permissions matrix: every declared route for every kind of caller.
@Suite("Permissions", .timeLimit(.minutes(10)))
struct PermissionsTests {
    @Test("Every route admits and refuses every kind of caller as its declaration says")
    func matrix() async throws {
        let routes = try await Features.alone { $0.routes }
        try await CampusCube.withGateway { gateway, cube in
            let callers = try await Caller.all(at: gateway, cube)
            for caller in callers {
                try await caller.confirmAgain()
                try await caller.check(caller.share(of: routes, among: callers))
            }
        }
    }

    @Test("Every route refuses an expired sign-in that requires one", .enabled(if: FakeClock.isPossible))
    func expiredSignIn() async throws {
        let routes = try await Features.alone { $0.routes }
        try await withTemporaryFolder { folder in
            let clock = try FakeClock(in: folder)
            try await RunningGateway.withServices(
                ["msi-people", "msi-cube", "msi-message-log"], settings: clock.settings, in: folder
            ) {
                try await RunningGateway.with(services: [], in: folder, settings: clock.settings) { gateway in
                    let root = try await gateway.newSession("root", "super_user")
                    try await root.confirm()
                    #expect(try await root.request("GET", "/account").status == 200)
                    try clock.set(ahead: 2 * 3_600 + 60)
                    // At first the services doubt the age of requests.
                    try await eventually("the sign-in has expired") {
                        try await root.request("GET", "/session").status == 401
                    }
                    let caller = Caller(
                        name: "expired sign-in", account: "root", credential: .cookie(root), gateway: gateway, rights: nil)
                    try await caller.check(routes)
                }
            }
        }
    }

    @Test("A token with a scope administers its part of the cube, and nothing else")
    func scopedAdministration() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let root = try await gateway.newSession("root", "super_user")
            try await root.confirm()
            let other = try await gateway.makeSubject()
            let (channel, area, subject) = ("\(cube.open.channel)", "\(cube.open.area)", "\(cube.open.subject)")
            let named = #"{"name":"n","desc":"d"}"#
            let subjectDraft = #"{"name":"n","desc":"d","opt":{"level":"","distribution":"Alert"}}"#
            /// The requests about a path, by the number of ids that a scope may have to allow them.
            func requests(_ channel: String, _ area: String, _ subject: String) -> [(Int, String, String, String?)] {
                [
                    (1, "PUT", "/channel/\(channel)", named), (1, "POST", "/area/\(channel)", named),
                    (1, "PUT", "/order/\(channel)", #"{"ids":[]}"#), (1, "PUT", "/access/\(channel)", #"{"access":[]}"#),
                    (2, "PUT", "/area/\(channel)/\(area)", named), (2, "POST", "/subject/\(channel)/\(area)", subjectDraft),
                    (2, "PUT", "/order/\(channel)/\(area)", #"{"ids":[]}"#),
                    (2, "PUT", "/access/\(channel)/\(area)", #"{"access":[]}"#),
                    (3, "PUT", "/subject/\(channel)/\(area)/\(subject)", subjectDraft),
                    (3, "PUT", "/access/\(channel)/\(area)/\(subject)", #"{"access":[]}"#),
                    (3, "PUT", "/approval/\(channel)/\(area)/\(subject)", #"{"approval":true}"#),
                    (3, "PUT", "/place/\(channel)/\(area)/\(subject)", #"{"channel":"\#(channel)","area":"\#(subject)"}"#),
                    (3, "DELETE", "/subject/\(channel)/\(area)/\(subject)", nil), (2, "DELETE", "/area/\(channel)/\(area)", nil),
                    (1, "DELETE", "/channel/\(channel)", nil),
                ]
            }
            for length in [3, 2, 1] {
                let scope = [channel, area, subject].prefix(length).joined(separator: "-")
                let script = gateway.with(token: try await root.makeToken(["administer"], #""scope":["\#(scope)"]"#))
                func expectRefusal(_ method: String, _ target: String, _ body: String?) async throws {
                    let refused = try await script.request(method, target, body: body)
                    #expect(refused.status == 403 && refused.problem == "forbidden", "\(length) \(method) \(target): \(refused)")
                }
                for (_, method, target, body) in requests(other.channel, other.area, other.subject) {
                    try await expectRefusal(method, target, body)
                }
                for (method, target, body) in [
                    ("POST", "/channel", named as String?), ("PUT", "/order", #"{"ids":[]}"#), ("GET", "/audit", nil),
                    ("GET", "/account", nil), ("GET", "/account/admin", nil),
                    ("PUT", "/account/admin/password", #"{"password":"x"}"#),
                ] {
                    try await expectRefusal(method, target, body)
                }
                #expect(try await !script.request("GET", "/token").text.contains(#""account":"admin""#))
                #expect(try await !script.request("GET", "/channel").text.contains(#""ann""#))
                for (needed, method, target, body) in requests(channel, area, subject) {
                    guard needed >= length else {
                        try await expectRefusal(method, target, body)
                        continue
                    }
                    // The object that the next scope is about stays.
                    if method == "DELETE", needed == length, length > 1 { continue }
                    let answer = try await script.request(method, target, body: body)
                    #expect(!answer.text.contains(#""ann""#), "\(scope): \(method) \(target): \(answer)")
                    // Only a person can confirm a password.
                    let isConfirmed = ["/access", "/approval", "/place"].contains { target.hasPrefix($0) }
                    #expect(
                        isConfirmed
                            ? answer.problem == "confirmation-required" : [200, 201, 204, 404, 409].contains(answer.status),
                        "\(scope): \(method) \(target): \(answer)")
                }
            }
        }
    }

    @Test("Routes about another account are for administrators")
    func otherAccounts() async throws {
        try await RunningGateway.with(services: ["msi-people"]) { gateway in
            let ann = try await gateway.newSession("ann")
            try await gateway.addAccount("bob")
            try await ann.confirm()
            let password = #"{"password":"another long password","current_password":"\#(RunningGateway.password)"}"#
            for (method, target, body) in [
                ("GET", "/account/bob", nil), ("PUT", "/account/bob", #"{"role":"super_user"}"# as String?),
                ("DELETE", "/account/bob", nil), ("PUT", "/account/bob/password", password),
                ("POST", "/account/bob/second-factor", nil), ("PUT", "/account/bob/second-factor", #"{"code":"123456"}"#),
                ("POST", "/account/bob/invitation", nil), ("PUT", "/account/bob/display-name", #"{"display_name":"Bob"}"#),
                ("DELETE", "/account/bob/second-factor", nil), ("PUT", "/account/ann", #"{"role":"super_user"}"#),
            ] {
                let refused = try await ann.request(method, target, body: body)
                #expect(refused.status == 403 && refused.problem == "forbidden", "\(method) \(target): \(refused)")
            }
            let root = try await gateway.newSession("root", "super_user")
            #expect(try await root.request("GET", "/account/bob").status == 200)
            #expect(try await root.request("PUT", "/account/bob/password", body: password).problem == "confirmation-required")
        }
    }
}

/// What a caller's request to a route comes to, apart from what the route itself says about its parameters and body.
private enum Outcome: Hashable {
    case admitted
    case unauthenticated
    case forbidden
    case confirmationRequired

    init(_ answer: HTTPAnswer) {
        switch (answer.status, answer.problem) {
        case (401, "unauthenticated"): self = .unauthenticated
        case (403, "forbidden"): self = .forbidden
        case (403, "confirmation-required"): self = .confirmationRequired
        default: self = .admitted
        }
    }
}

extension Route {
    fileprivate var isSignOut: Bool { method == .delete && path == "/session" }
}

/// A kind of caller.
private struct Caller {
    enum Credential {
        case none
        case cookie(BrowserSession)
        case token(String)
    }

    let name: String
    let account: String
    let credential: Credential
    let gateway: RunningGateway
    /// `nil` if the credential is not valid.
    let rights: [AccountRight]?
    var isConfirmed = false
    var isOperator = false
    /// Whether it is a token for a part of the cube.
    var isScoped = false
    /// Whether a second factor is required of the account, which has none.
    var lacksSecondFactor = false
    /// Whether it is a person's device.
    var isDevice = false

    static func all(at gateway: RunningGateway, _ cube: CampusCube) async throws -> [Caller] {
        func session(_ account: String, _ role: Role = .communicator) async throws -> BrowserSession {
            let session = try await gateway.newSession(account, role.rawValue)
            try await session.confirm()
            return session
        }
        func caller(_ name: String, _ session: BrowserSession, _ role: Role, isConfirmed: Bool = true) -> Caller {
            Caller(
                name: name, account: session.account, credential: .cookie(session), gateway: gateway,
                rights: Array(role.rights), isConfirmed: isConfirmed)
        }
        /// The sign-in and the token of a super user whose account is changed afterwards.
        func changed(
            _ account: String, _ method: String, _ change: String? = nil, rights: [AccountRight]? = nil
        ) async throws -> [Caller] {
            let signedIn = try await session(account, .superUser)
            let token = try await signedIn.makeToken(["read", "send", "administer"])
            let answer = try await gateway.request(method, "/account/\(account)", body: change)
            #expect([200, 204].contains(answer.status), "\(answer)")
            return [
                Caller(
                    name: account, account: account, credential: .cookie(signedIn), gateway: gateway, rights: rights,
                    isConfirmed: true, lacksSecondFactor: rights != nil),
                Caller(
                    name: "\(account) account's token", account: account, credential: .token(token), gateway: gateway,
                    rights: rights, lacksSecondFactor: rights != nil),
            ]
        }
        let (ann, bob, root) = (try await session("ann"), try await session("bob"), try await session("root", .superUser))
        let changedAccounts =
            try await changed("disabled", "PUT", #"{"disabled":true}"#) + changed("removed", "DELETE")
            + changed("incomplete", "PUT", #"{"second_factor_required":true}"#, rights: AccountRight.allCases)
        let expiredToken = try await root.makeToken(
            ["read", "send", "administer"], #""expires":\#(Int64.nowInMilliseconds + 8_000)"#)
        func token(_ rights: [AccountRight], scope: TopicKey? = nil) async throws -> Caller {
            let field = scope.map { #""scope":["\#($0)"]"# }
            let names = rights.map(\.rawValue)
            let secret = if let field { try await root.makeToken(names, field) } else { try await root.makeToken(names) }
            return Caller(
                name: "token \(names)\(scope == nil ? "" : ", scoped")", account: "root", credential: .token(secret),
                gateway: gateway, rights: rights, isScoped: scope != nil)
        }
        var callers = [
            Caller(name: "anonymous", account: "root", credential: .none, gateway: gateway, rights: nil),
            caller("communicator with access", ann, .communicator), caller("communicator without access", bob, .communicator),
            caller("super user", root, .superUser),
            caller("unconfirmed communicator", try await gateway.newSession("carl"), .communicator, isConfirmed: false),
            caller(
                "unconfirmed super user", try await gateway.newSession("dora", "super_user"), .superUser, isConfirmed: false),
            Caller(
                name: "operator", account: TestOperator.account, credential: .token(gateway.token ?? ""), gateway: gateway,
                rights: AccountRight.allCases, isConfirmed: true, isOperator: true),
        ]
        callers += changedAccounts
        for right in AccountRight.allCases { callers.append(try await token([right])) }
        callers.append(try await token(AccountRight.allCases, scope: cube.open))
        try await eventually("the token has expired", every: .seconds(1)) {
            try await gateway.with(token: expiredToken).request("GET", "/session").status == 401
        }
        callers.append(
            Caller(name: "expired token", account: "root", credential: .token(expiredToken), gateway: gateway, rights: nil))
        let student = try await gateway.person("student")
        callers.append(
            Caller(
                name: "device", account: student.account, credential: .token(student.token), gateway: gateway, rights: [],
                isDevice: true))
        // Its sign-out ends the sessions that others use, so it is the last one.
        return callers.filter { $0.name != "super user" } + callers.filter { $0.name == "super user" }
    }

    /// The routes that the caller calls: all of them. Credentials that have ended are the same to a route, so in level one those of a kind
    /// take turns.
    func share(of routes: [Route], among callers: [Caller]) -> [Route] {
        guard hasEnded, !Level.isAll else { return routes }
        let alike = callers.filter { $0.hasEnded && $0.isToken == isToken }
        let turn = alike.firstIndex { $0.name == name } ?? 0
        return routes.enumerated().filter { $0.offset % alike.count == turn }.map(\.element)
    }

    /// Confirms the password of a caller who has done so at the beginning: it counts for five minutes, and the checks of the callers
    /// before may take longer on a busy machine.
    func confirmAgain() async throws {
        guard case .cookie(let session) = credential, isConfirmed, rights != nil, !lacksSecondFactor else { return }
        try await session.confirm()
    }

    /// Makes a request to every route. The sign-out is last.
    func check(_ routes: [Route]) async throws {
        for route in routes.sorted(by: { !$0.isSignOut && $1.isSignOut }) {
            var answer = try await request(route)
            if route.right == .anyone, Outcome(answer) != expected(of: route) {
                // Such a route waits only shortly for the check of a token, and then answers as to an anonymous request.
                try await eventually("the token is checked") {
                    answer = try await request(route)
                    return Outcome(answer) == expected(of: route)
                }
            }
            #expect(Outcome(answer) == expected(of: route), "\(name): \(route.method) \(route.path): \(answer)")
        }
    }

    private var isToken: Bool { if case .token = credential { true } else { false } }
    private var hasEnded: Bool { if case .none = credential { false } else { rights == nil } }

    /// The outcome by the route's declaration, and by the rules of the routes about the caller's own sign-in and account.
    private func expected(of route: Route) -> Outcome {
        if route.right == .anonymous { return .admitted }
        guard let rights else {
            // An invalid token is an error everywhere; an ended cookie is none.
            return route.right == .anyone && !isToken ? .admitted : .unauthenticated
        }
        if isDevice {
            // A device registers only itself, and its person is no professor.
            let isOther = route.method == .put && route.path == "/user/devices/:id" || route.path == "/class"
            return route.right == .anyone || route.right == .person && !isOther ? .admitted : .forbidden
        }
        if route.right == .person { return .forbidden }
        if lacksSecondFactor, route.right != .anyone, route.right != .partlySignedIn { return .forbidden }
        if let right = route.right.accountRight, !rights.contains(right) { return .forbidden }
        // The objects do not exist, so no scope contains them.
        if isScoped, route.right == .administer { return .forbidden }
        if route.isConfirmed, !isConfirmed { return .confirmationRequired }
        switch (route.method, route.path) {
        // Only sign-ins are confirmed and signed out.
        case (.put, "/session"), (.delete, "/session"): return isToken ? .forbidden : .admitted
        // A second person signs in.
        case (.post, "/message/:msi_key/approve"): return isToken ? .forbidden : .admitted
        case (.put, "/account/:account/password"), (.put, "/account/:account/display-name"):
            return isToken && !isOperator ? .forbidden : .admitted
        default: return .admitted
        }
    }

    /// A request with an empty body, to objects that do not exist and to the caller's own account.
    private func request(_ route: Route) async throws -> HTTPAnswer {
        let segments = route.path.split(separator: "/").map { segment -> String in
            guard segment.hasPrefix(":") else { return String(segment) }
            return segment == ":account" ? (route.right == .administer ? "nobody" : account) : "\(ObjectID())"
        }
        let target = "/" + segments.joined(separator: "/")
        var fields: [String] = []
        switch credential {
        case .none: break
        case .cookie(let session): fields = session.fields
        case .token(let token): fields = ["Authorization: Bearer \(token)"]
        }
        let connection = try HeldConnection(to: gateway.port)
        connection.send(route.method.rawValue, target, fields, body: route.body == nil ? nil : "")
        return try await connection.answer()
    }
}

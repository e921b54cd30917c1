import Base
import Bus
import HTTPTypes
import Schemas

/// How a person signs in on a device: with a provider's token or a password, and a key that never leaves the device.
struct DeviceSignInRoutes: Feature {
    private let people: CommandClient
    private let cube: CubeService
    /// See ``GatewayAccess/publicURL``.
    private let publicURL: String?
    /// Each begins a sign-in at the provider. Allows for a campus behind one address.
    private let flows = AddressLimit(
        perMinute: 300, "This address has begun too many sign-ins at the provider within a minute.")

    /// The people service sends a provider up to three requests.
    static let timeout = Duration.seconds(20)

    init(people: CommandClient, cube: CubeService, publicURL: String?) {
        self.people = people
        self.cube = cube
        self.publicURL = publicURL
    }

    var section: APISection {
        APISection(
            "Students' sign-in",
            "A device has a key pair, and shows by a signature that a request comes from it. The person signs in once on each device. From "
                + "then on the device gets tokens of an hour by its key alone.")
    }

    var routes: [Route] {
        [
            Route(.get, "/user/providers", right: .anonymous, answer: .ok(ListProviders.Reply.self)) { call in
                Answer(try await people.request(ListProviders(), context: call.caller))
            }.documented(
                "List the ways to sign in on a device",
                "What the operator has set up. With the flow `fragment`, the app adds `redirect_uri`, `state` and `nonce` to `url`, and the "
                    + "browser comes back with the token in the fragment. The `nonce` is the SHA-256 of the device's public key (the bytes of "
                    + "the point), in URL-safe Base64."),
            Route(
                .post, "/user/providers/university/flow", right: .anonymous, answer: .created(BeginOpenIDSignIn.Reply.self)
            ) { call in
                try call.checkRepeatableKey()
                try flows.count(call.context.client)
                let command = BeginOpenIDSignIn(redirect: call.origin(publicURL) + AppFiles.root)
                return Answer(try await people.request(command, timeout: Self.timeout, context: call.caller))
            }.documented(
                "Begin to sign in at the university on a device",
                "Go to `url`, and keep `flow`, for ten minutes at most. The browser comes back to the app's page with `code` and `state`, "
                    + "which `PUT /user` takes with the `flow`. 404 if no provider is set up.",
                headers: [.repeatableKey], problems: [.notFound]),
            Route(.get, "/user/challenge", right: .anonymous, answer: .ok(ChallengeDevice.Reply.self)) { call in
                Answer(try await people.request(ChallengeDevice(), context: call.caller))
            }.documented("Get a nonce to sign", "For one proof, within two minutes."),
            Route(.put, "/user", right: .anonymous, body: DeviceSignIn.self, answer: .ok(DeviceSignedIn.self)) { call in
                let command = try await call.body().command(from: call.address)
                return Answer(try await people.requestLimited(command, timeout: Self.timeout, context: call.caller))
            }.documented(
                "Sign in on a device",
                "Authorises the credential, and saves what identifies the device: its public key. A key that the account has already is the same "
                    + "device. A failure is 401 with the `field` that was wrong: `nonce`, `proof`, `id_token`, `access_token`, "
                    + "`authorization_code`, `password`, or `code` if the account has a second factor. 404 if nobody with this identity has "
                    + "an account: `POST /user` makes one. 403 if the account was removed.",
                problems: [.unauthenticated, .forbidden, .notFound]),
            Route(.post, "/user", right: .anonymous, body: Registration.self, answer: .created(Person.self), register)
                .documented(
                    "Register",
                    "Makes the record of a new person, whose credential it checks as `PUT /user` does, and signs nobody in. 409 with the `field` "
                        + "`account` if the name cannot be used, and without a field if the identity has an account. 403 if people cannot "
                        + "register this way; with the `field` `access_code` if a code is necessary.",
                    headers: [
                        RequestHeader(
                            name: .idempotencyKey, schema: RequestHeader.idempotencyKey.schema,
                            description: "A text of your choice. A retry with the same key and credential gets the first answer.",
                            example: "7c0d1b3e-register-ann", problems: [])
                    ],
                    answerHeaders: [.location], problems: [.unauthenticated, .forbidden, .conflict]),
            Route(
                .post, "/user/token", right: .anonymous, body: ExchangeDeviceToken.self,
                answer: .ok(ExchangeDeviceToken.Reply.self)
            ) { call in
                try call.checkRepeatableKey()
                return Answer(try await people.requestLimited(try await call.body(), context: call.caller))
            }.documented(
                "Get another token of a device",
                "401 with the `field` `device` if the device has signed out, or the account is disabled: then its key is of no use any more.",
                headers: [.repeatableKey], problems: [.unauthenticated]),
        ].map { $0.counted(as: .phones) }
    }

    private func register(_ call: OpenCall<Registration>) async throws -> Answer<Person> {
        let key = try call.request.idempotencyKey
        let command = try await call.body().command(key: key, from: call.address)
        // Who chooses a name must not get the rights of others.
        guard try await !cube.current().lists(command.account) else {
            throw Problem(.conflict, "account: \(command.account) cannot be used; choose another name", field: "account")
        }
        let person = try await people.requestLimited(command, timeout: Self.timeout, context: call.caller)
        return Answer(person, headers: [.location: "/user"])
    }
}

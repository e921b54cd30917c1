import FoundationEssentials
import Base
import GRDB
import Schemas

extension Account {
    /// The ways to sign in that the hub offers.
    ///
    /// - Throws: ``HubFailure``, or the error of the connection.
    public func providers() async throws -> [Provider] {
        let path = "/user/providers"
        guard let providers = try await platform.hub.document(of: HubRequest(.get, path))["providers"]?.elements else {
            throw HubFailure.unreadable(path)
        }
        return providers.compactMap { Provider($0) }
    }

    /// The devices on which the person is signed in. The one that was used last comes first.
    ///
    /// - Throws: As ``request(_:)``; ``Refusal``.
    public func devices() async throws -> [Device] {
        let path = "/user/devices"
        let answer = try await request(HubRequest(.get, path))
        guard answer.status == 200 else { throw Refusal(answer) }
        guard let document = try? JSONValue(parsing: answer.body), let devices = document["devices"]?.elements else {
            throw HubFailure.unreadable(path)
        }
        return devices.compactMap { Device($0, current: document["current"]?.string) }
    }

    // MARK: Proofs

    /// - Throws: ``NoSecretStore``.
    func secrets() throws -> any SecretStore {
        guard let store = platform.secretStore else { throw NoSecretStore() }
        return store
    }

    /// Sends a request that signs in or registers: with the credential, what identifies the device, and the proof.
    func authorize(
        _ method: HubRequest.Method, _ path: String, expecting status: Int, _ body: JSONValue, _ credential: Credential,
        key: String? = nil
    ) async throws -> JSONValue {
        let store = try secrets()
        var device: JSONValue = [
            "key": .string(try await store.publicKey().base64URL), "platform": .string(platform.kind.rawValue),
            "language": .string(platform.language()),
        ]
        device["name"] = platform.deviceName.map { .string($0) }
        device["app_version"] = platform.appVersion.map { .string($0) }
        let subject = store.sha256(Data(credential.provenText.utf8)).hexadecimal
        let headers = key.map { ["Idempotency-Key": $0] } ?? [:]
        return try await proven(.signIn, subject: subject) { [self, device] proof in
            var body = body
            body["device"] = device
            for member in proof.members ?? [] { body[member.name] = member.value }
            return try await document(of: HubRequest(method, path, headers: headers, body: body.data), expecting: status)
        }
    }

    /// Sends something with a proof. A hub that has forgotten the challenge, such as after a restart, gives another one, once.
    ///
    /// - Parameter send: Gets the proof as the members `nonce` and `proof`.
    func proven<Value>(
        _ purpose: DeviceProof.Purpose, subject: String, _ send: (JSONValue) async throws -> Value
    ) async throws -> Value {
        do {
            return try await send(try await proof(purpose, subject))
        } catch let refusal as Refusal where refusal.field == "nonce" {
            return try await send(try await proof(purpose, subject))
        }
    }

    private func proof(_ purpose: DeviceProof.Purpose, _ subject: String) async throws -> JSONValue {
        let path = "/user/challenge"
        guard let nonce = try await document(of: HubRequest(.get, path), expecting: 200)["nonce"]?.string else {
            throw HubFailure.unreadable(path)
        }
        let text = DeviceProof.text(purpose, nonce: Secret(nonce), subject: subject)
        return ["nonce": .string(nonce), "proof": .string(try await secrets().sign(Data(text.utf8)).base64URL)]
    }

    /// - Throws: ``Refusal``, ``HubFailure``, or the error of the connection.
    func document(of request: HubRequest, expecting status: Int) async throws -> JSONValue {
        let answer = try await platform.hub.answer(to: request)
        guard answer.status == status else { throw Refusal(answer) }
        guard let document = try? JSONValue(parsing: answer.body) else { throw HubFailure.unreadable(request.path) }
        return document
    }

    // MARK: How the device is reached

    /// Tells the hub how this device is reached: after a sign-in, and when FCM has replaced the registration, or the language or the app's
    /// version has changed. Until the task is cancelled.
    func run(_ fcm: FCMModule, failed: @Sendable (any Error) -> Void) async {
        var backoff = Backoff(first: .seconds(1), max: .seconds(60), jitter: 0.5...1)
        while await registrations.next() != nil {
            do {
                try await tell(fcm)
                backoff.succeeded()
            } catch is SignedOut {
                // The next sign-in tells.
            } catch {
                if Task.isCancelled { return }
                failed(error)
                try? await platform.clock.sleep(for: backoff.failed())
                registrations.add(.now)
            }
        }
    }

    private func tell(_ fcm: FCMModule) async throws {
        guard let memory = try await memory() else { return }
        var registration: JSONValue = [
            "fcm_token": .string(try await fcm.registrationToken()), "language": .string(platform.language()),
        ]
        registration["name"] = platform.deviceName.map { .string($0) }
        registration["app_version"] = platform.appVersion.map { .string($0) }
        let text = registration.text
        guard text != memory.told else { return }
        let answer = try await request(HubRequest(.put, "/user/devices/\(memory.device)", body: Data(text.utf8)))
        guard answer.status == 200 else { throw Refusal(answer) }
        try await database.db.write { db in
            // Somebody else may be signed in by now.
            guard var current = try AccountMemory.read(db), current.device == memory.device else { return }
            current.told = text
            try current.keep(db)
        }
    }
}

extension HubRequest {
    /// With a token for `Authorization`.
    func adding(_ token: String) -> HubRequest {
        HubRequest(method, path, headers: headers.merging(["Authorization": "Bearer \(token)"]) { $1 }, body: body)
    }
}

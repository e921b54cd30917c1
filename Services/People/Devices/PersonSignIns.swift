import Base
import DeviceTokens
import Schemas
import ServiceKit
import Store

/// How persons sign in, register, and link further ways to sign in.
extension People {
    /// Checks the proof of a device that signs in.
    ///
    /// - Returns: Its key, and the nonce, which is still to be used up.
    /// - Throws: ``CommandFailure``: `unauthenticated` with the field `nonce` or `proof`; `invalid` for a key that is none.
    private func prove(
        _ device: NewDevice, _ credential: PersonCredential, nonce: Secret, proof: String
    ) async throws -> (DeviceKey, Challenge) {
        let challenge = try await challenges.challenge(nonce)
        let key: DeviceKey
        do throws(SchemaViolation) {
            key = try DeviceKey(device.key)
        } catch {
            throw CommandFailure(.invalid, "device.\(error)", field: "device.\(error.field)")
        }
        guard key.hasSigned(.signIn, nonce: nonce, subject: credential.proofSubject, proof: proof) else {
            throw CommandFailure.wrongProof
        }
        return (key, challenge)
    }

    /// Signs a person in on a device.
    func begin(_ command: BeginDevice) async throws -> DeviceSignedIn {
        let credential = command.credential
        let (key, challenge) = try await prove(
            command.device, credential, nonce: command.nonce, proof: command.proof)
        if case .password(let name, let password)? = credential.kind {
            return try await passwords.check(
                password, for: .device(account: name, address: command.address), hasCode: credential.code != nil
            ) { account in
                try await begin(command, .password(account), of: account.id, by: key, challenge)
            }
        }
        let identity = try await providers.identity(
            of: credential, device: key.thumbprint, from: command.address, now: changes.now())
        let found = try await store.snapshot { try $0.account(of: identity) }
        let account = found?.id
        guard let found, found.isActive || found.isUnused, found.secondFactorState == .set else {
            return try await begin(command, .identity(identity), of: account, by: key, challenge)
        }
        return try await passwords.check(
            nil, for: .code(found.name, address: command.address), hasCode: credential.code != nil
        ) { _ in
            try await begin(command, .identity(identity), of: account, by: key, challenge)
        }
    }

    /// - Parameter account: The id of its account; `nil` if there is none.
    private func begin(
        _ command: BeginDevice, _ arrival: Arrival, of account: String?, by key: DeviceKey, _ challenge: Challenge
    ) async throws -> DeviceSignedIn {
        let thumbprint = key.thumbprint
        let begun: BegunDevice?
        do {
            begun = try await signIns.count(account) {
                try await changes.make(by: AuditAuthor(actor: nil, address: command.address)) { change -> BegunDevice? in
                    try change.transaction.use(challenge)
                    return try change.begin(command, arrival, thumbprint: thumbprint)
                }
            }
        } catch let refusal as IDTokenRefusal {
            throw providers.refusal(refusal, of: command.credential)
        }
        guard let begun else { throw CommandFailure(.notFound, "you have no account here yet") }
        personEvents.announce(begun.person.account, .devices, "\(begun.device.id)")
        let (token, expires) = try begun.token.signed()
        return DeviceSignedIn(person: begun.person, device: begun.device.id, token: token, expires: expires)
    }

    /// Makes the record of a new person.
    func add(_ command: AddPerson) async throws -> Person {
        let credential = command.credential
        let (key, challenge) = try await prove(
            command.device, credential, nonce: command.nonce, proof: command.proof)
        let createdKey = command.idempotencyKey.map { CredentialHash(of: Secret($0 + credential.provenText)).description }
        let known = try await store.snapshot { try $0.registered(command.account, createdKey) }
        var identity: ProvenIdentity?
        var password: PasswordHash?
        if case .password(let name, let chosen)? = credential.kind {
            guard AccountName(name) == command.account else {
                throw CommandFailure(
                    .invalid, "credential.account: expected the name of the account", field: "credential.account")
            }
            if known != nil { return try await repeated(command, chosen, createdKey, challenge) }
            password = try await hash(chosen, for: command)
        } else {
            let proven = try await providers.identity(
                of: credential, device: key.thumbprint, from: command.address, now: changes.now())
            guard known != nil || proven.mayRegister else {
                throw CommandFailure(.forbidden, "the university's provider does not say that you are a student")
            }
            identity = proven
        }
        do {
            let author = AuditAuthor(actor: nil, address: command.address)
            return try await changes.make(by: author) { [identity, password] change -> Person in
                try change.transaction.use(challenge)
                return try change.register(command, identity, password: password, createdKey: createdKey)
            }
        } catch let refusal as IDTokenRefusal {
            throw providers.refusal(refusal, of: credential)
        }
    }

    /// The person of a registration with a password that is repeated. Who knows its key need not be who knows the password.
    private func repeated(
        _ command: AddPerson, _ password: Secret, _ createdKey: String?, _ challenge: Challenge
    ) async throws -> Person {
        // A second factor is not asked for, so wrong codes of sign-ins are not forgotten.
        try await passwords.check(
            password, for: .device(account: "\(command.account)", address: command.address), isAll: false
        ) { _ in
            let person = try await store.transaction { transaction -> Person? in
                try transaction.use(challenge)
                return try transaction.registered(command.account, createdKey)
            }
            guard let person else {
                throw CommandFailure(
                    .unauthenticated, "password: the account has just been changed; try again", field: "password")
            }
            return person
        }
    }

    /// The hash of the password of a person who registers, if that is allowed.
    private func hash(_ password: Secret, for command: AddPerson) async throws -> PasswordHash {
        switch providers.settings.registration {
        case .anyone: break
        case .code where command.accessCode != nil: break
        case .code:
            throw CommandFailure(
                .forbidden, "access_code: missing; who registers with a password needs one", field: "access_code")
        case .off:
            throw CommandFailure(.forbidden, "nobody registers here with a password; sign in at a provider")
        }
        let client = IPAddress(command.address)
        try registrations.count(from: client)
        let now = changes.now()
        // Before the hash, which takes long.
        try await store.snapshot { try PeopleChange($0, issuer: nil, now: now).requireUnused(command.account) }
        return try await passwords.hashing.hash(password, for: .anyone(client))
    }
}

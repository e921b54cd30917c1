import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about second factors.
    mutating func serveSecondFactors(_ people: People) {
        on(BeginSecondFactor.self) { command, context in
            let secret = TOTP.makeSecret()
            let account = try await people.changes.make(by: context) { change in
                try change.require(.account(command.account), of: context)
                return try change.update(command.account, as: BeginSecondFactor.name) { account in
                    guard account.secondFactor?.isConfirmed != true else {
                        throw CommandFailure(.conflict, "\(account.name) has a second factor already; remove it first")
                    }
                    account.secondFactor = SecondFactorRecord(secret: secret)
                }
            }
            return BeginSecondFactor.Reply(secret: secret, uri: TOTP.uri(of: secret, account: account.name))
        }
        on(ConfirmSecondFactor.self) { command, context in
            let codes = RecoveryCodes.make()
            _ = try await people.changes.make(by: context) { change in
                try change.require(.account(command.account), of: context)
                let now = change.now
                return try change.update(command.account, as: ConfirmSecondFactor.name) { account in
                    guard var secondFactor = account.secondFactor, !secondFactor.isConfirmed else {
                        throw CommandFailure(.conflict, "there is no new second factor of \(account.name) to confirm")
                    }
                    try secondFactor.confirm(command.code, recoveryCodes: codes.map(RecoveryCodes.hash), at: now)
                    account.secondFactor = secondFactor
                }
            }
            return ConfirmSecondFactor.Reply(recoveryCodes: codes)
        }
        on(RemoveSecondFactor.self) { command, context in
            try await people.changes.make(by: context) { change in
                try change.require(.account(command.account), of: context)
                return try change.update(command.account, as: RemoveSecondFactor.name) { $0.secondFactor = nil }.account
            }
        }
    }
}

/// The stored second factor of an account.
struct SecondFactorRecord: Codable, Hashable, Sendable {
    /// In Base32.
    let secret: Secret
    /// Whether the account has shown that its app has the secret. Until then, signing in does not ask for a code.
    var isConfirmed: Bool
    /// The time step of the last accepted code. Codes of it and of earlier steps are refused.
    var lastStep: Int64?
    /// The SHA-256 of the unused recovery codes, in hexadecimal digits.
    var recoveryCodes: [CredentialHash]

    private enum CodingKeys: String, CodingKey {
        case secret
        case isConfirmed = "confirmed"
        case lastStep = "last_step"
        case recoveryCodes = "recovery_codes"
    }
}

extension SecondFactorRecord {
    /// A new second factor, which takes effect once its secret is confirmed by a code.
    init(secret: Secret) {
        self.init(secret: secret, isConfirmed: false, lastStep: nil, recoveryCodes: [])
    }

    /// Accepts a code of the app, or a recovery code, once.
    ///
    /// - Throws: ``CommandFailure`` with `unauthenticated` and the field `code` if it is missing or wrong.
    mutating func accept(_ code: Secret?, at now: UnixMilliseconds) throws {
        guard let code else {
            throw CommandFailure(
                .unauthenticated, "code: missing; this account signs in with a code of its authenticator app", field: "code")
        }
        if acceptTOTP(code, at: now) { return }
        let recovery = RecoveryCodes.hash(code)
        guard let index = recoveryCodes.firstIndex(of: recovery) else {
            throw CommandFailure(.unauthenticated, "code: wrong, or already used", field: "code")
        }
        recoveryCodes.remove(at: index)
    }

    /// The first code of the app: from now on the second factor counts.
    ///
    /// - Throws: ``CommandFailure`` with `unauthenticated` and the field `code` if it is wrong.
    mutating func confirm(_ code: Secret, recoveryCodes codes: [CredentialHash], at now: UnixMilliseconds) throws {
        guard acceptTOTP(code, at: now) else {
            throw CommandFailure(.unauthenticated, "code: wrong; check the clock of the phone", field: "code")
        }
        isConfirmed = true
        recoveryCodes = codes
    }

    private mutating func acceptTOTP(_ code: Secret, at now: UnixMilliseconds) -> Bool {
        guard let step = TOTP(secret: secret)?.step(of: code.codeDigits, at: now, after: lastStep) else { return false }
        lastStep = step
        return true
    }
}

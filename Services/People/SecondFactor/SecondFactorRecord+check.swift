import Schemas

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

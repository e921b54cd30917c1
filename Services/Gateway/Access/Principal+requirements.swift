import Schemas

/// What routes and their handlers require of a caller.
extension Principal {
    /// - Throws: ``Problem`` if a second factor is required that is missing.
    func requireSecondFactor() throws(Problem) {
        guard lacksSecondFactor else { return }
        throw Problem(.forbidden, missingFactor)
    }

    private var missingFactor: String {
        switch (credential.secondFactor, credential.kind) {
        case (.pending, _): "Give the code of your authenticator app first: PUT /session with \"code\"."
        case (_, .token): "The tokens of \(account) do not work until it has set up a second factor."
        case (_, .signIn):
            "\(account) must set up a second factor first: POST /account/\(account)/second-factor after PUT /session."
        }
    }

    /// - Throws: ``Problem`` if the password was not confirmed a short time ago.
    func requireConfirmation() throws(Problem) {
        guard !isConfirmed(at: .now) else { return }
        let isToken = credential.kind == .token
        throw Problem(
            .confirmationRequired,
            isToken
                ? "A token cannot do this, except the operator's: it requires a sign-in with a confirmed password."
                : "Confirm the password by PUT /session; that counts for a few minutes.")
    }

    /// - Throws: ``Problem`` unless it has the right.
    func require(_ right: AccountRight) throws(Problem) {
        try requireSecondFactor()
        guard !has(right) else { return }
        throw Problem(.forbidden, "This requires the right \"\(right.rawValue)\", which \(name) does not have.")
    }

    /// - Parameter part: The part of the cube that a request is about; `nil` if it is about anything else.
    /// - Throws: ``Problem`` if it is a token that is restricted to other parts.
    func requireScope(for part: TopicPrefix?) throws(Problem) {
        guard let scope else { return }
        if let part, scope.contains(where: { $0.contains(part) }) { return }
        throw Problem(.forbidden, "This is outside of the part of the cube to which \(name) is restricted.")
    }

    /// - Throws: ``Problem`` unless it administers everything.
    func requireAdministrator() throws(Problem) {
        try require(.administer)
        try requireScope(for: nil)
    }

    /// - Throws: ``Problem`` if it is a token.
    func requirePerson() throws(Problem) {
        guard credential.kind == .token else { return }
        throw Problem(.forbidden, "A token cannot do this: it takes a second person, who signs in.")
    }

    /// The caller in the text of an error.
    private var name: String { credential.kind == .token ? "this token of \(account)" : "\(account)" }
}

import CommandBus
import Schemas
import Storage

/// Who may make a change.
enum CallerRequirement {
    /// An administrator of everything.
    case administrator
    /// The account itself, or an administrator.
    case account(AccountName)
    /// The account itself, or the operator's token.
    case accountOrOperator(AccountName)
}

extension PeopleChange {
    /// Checks once more, in the transaction of the change, that the caller's credential allows it: it may have ended after the gateway
    /// has checked it, for example while a password was hashed. A request without a credential comes from a program of the operator.
    ///
    /// - Throws: ``CommandFailure``: `unauthenticated` if the credential has ended, `forbidden` if it does not suffice.
    func require(_ requirement: CallerRequirement, of context: CommandContext) throws {
        guard let hash = context.credential else { return }
        let credential: Credential
        do {
            credential = try transaction.credential(hash)
        } catch let failure as CommandFailure where failure.status == .notFound {
            throw CommandFailure(.unauthenticated, "your sign-in or token has just ended")
        }
        guard requirement.allows(credential) else {
            throw CommandFailure(.forbidden, "your sign-in or token does not allow this any more")
        }
    }
}

extension CallerRequirement {
    fileprivate func allows(_ credential: Credential) -> Bool {
        let isAdministrator = credential.rights.contains(.administer) && credential.scope == nil
        return switch self {
        case .administrator: isAdministrator
        case .account(let account): credential.account == account || isAdministrator
        case .accountOrOperator(let account): credential.account == account || credential.isOperator == true
        }
    }
}

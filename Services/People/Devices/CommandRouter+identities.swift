import Base
import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about who a person is, and how they sign in.
    mutating func serveIdentities(_ people: People) {
        on(ListProviders.self) { _, _ in ListProviders.Reply(providers: people.providers.offered) }
        on(BeginDevice.self) { command, _ in
            try await SignInCount(command.credential.provider).count { try await people.begin(command) }
        }
        on(AddPerson.self) { command, _ in try await people.add(command) }
        on(GetPerson.self) { _, context in
            try await people.store.snapshot { try $0.person(of: $0.caller(context.requirePerson())) }
        }
        on(LinkIdentity.self) { command, context in
            let person = try await people.link(command, by: context)
            people.personEvents.announce(person.account, .account)
            return person
        }
        on(UnlinkIdentity.self) { command, context in
            let person = try await people.changes.make(by: context) { change in
                try change.unlink(command.provider, from: change.transaction.callerWithoutStaffRights(context))
            }
            people.personEvents.announce(person.account, .account)
            return person
        }
        on(ChangePersonPassword.self) { command, context in
            let account = try await people.changePassword(command, by: context)
            people.personEvents.announce(account, .devices)
            return Done()
        }
    }
}

extension People {
    /// Gives a person a further way to sign in.
    fileprivate func link(_ command: LinkIdentity, by context: CommandContext) async throws -> Person {
        let credential = command.credential
        if case .password(let name, let password)? = credential.kind {
            let caller = try await store.snapshot { try $0.callerWithoutStaffRights(context) }
            guard AccountName(name) == caller.name else {
                throw CommandFailure(
                    .invalid, "credential.account: expected the name of your account", field: "credential.account")
            }
            try PeopleLimits.checkNew(password, LinkedField.password)
            let hash = try await passwords.hashing.hash(password)
            return try await changes.make(by: context) { change in
                try change.link(hash, to: change.transaction.callerWithoutStaffRights(context))
            }
        }
        let thumbprint = try await store.snapshot { transaction in
            try transaction.device(command.device, of: transaction.callerWithoutStaffRights(context)).thumbprint
        }
        let identity = try await providers.identity(
            of: credential, device: thumbprint, from: command.address, now: changes.now())
        do {
            return try await changes.make(by: context) { change in
                try change.link(identity, to: change.transaction.callerWithoutStaffRights(context))
            }
        } catch let refusal as IDTokenRefusal {
            throw providers.refusal(refusal, of: credential)
        }
    }

    /// Gives a person another password, and signs out the other devices.
    fileprivate func changePassword(_ command: ChangePersonPassword, by context: CommandContext) async throws -> AccountName {
        let caller = try await store.snapshot { try $0.callerWithoutStaffRights(context) }
        guard caller.password != nil else {
            throw CommandFailure(.conflict, "\(caller.name) signs in without a password")
        }
        do {
            return try await passwords.check(
                command.current, for: .passwordChange(caller.name, caller: nil, address: command.address)
            ) { checked in
                let hash = try await passwords.hashing.hash(command.password)
                return try await changes.make(by: context) { change in
                    try change.replacePassword(of: checked, with: hash, by: command.device)
                }
            }
        } catch let failure as CommandFailure where failure.status == .unauthenticated {
            throw CommandFailure(.unauthenticated, "current: the password is wrong, or has just been changed", field: "current")
        }
    }
}

/// Where a new password is in ``LinkIdentity``.
private enum LinkedField: String, CodingKey {
    case password = "credential.password"
}

extension Transaction {
    /// The account of a person who changes how they sign in. The staff's sign-ins also open the portal, so a device must not change them.
    ///
    /// - Throws: ``CommandFailure``: `unauthenticated` as ``caller(_:)``; `forbidden` for an account of the staff.
    fileprivate func callerWithoutStaffRights(_ context: CommandContext) throws -> AccountDocument {
        let account = try caller(context.requirePerson())
        guard !account.role.isStaff else {
            throw CommandFailure(
                .forbidden, "\(account.name) is an account of the staff, whose sign-ins are changed in the portal")
        }
        return account
    }
}

/// The changes of the ways in which a person signs in.
extension PeopleChange {
    fileprivate func link(_ identity: ProvenIdentity, to account: AccountDocument) throws -> Person {
        if let used = identity.used { try transaction.use(used) }
        if let holder = try transaction.account(of: identity) {
            guard holder.id == account.id else {
                throw CommandFailure(.conflict, "somebody else signs in this way, to another account")
            }
            return try transaction.person(of: account)
        }
        guard try !transaction.person(of: account).identities.contains(where: { $0.provider == identity.provider }) else {
            throw CommandFailure(.conflict, "you sign in with \(identity.provider.rawValue) already; remove that way first")
        }
        let linked = try transaction.update(account.id, in: PeopleStore.accounts) { account in
            account.touch()
            if let openID = identity.openID { account.openID = openID }
        }.document
        try transaction.remember(identity, of: linked, at: now)
        return try transaction.person(of: linked)
    }

    fileprivate func link(_ password: PasswordHash, to account: AccountDocument) throws -> Person {
        guard account.password == nil else {
            throw CommandFailure(.conflict, "\(account.name) has a password already; change it instead")
        }
        let linked = try transaction.update(account.id, in: PeopleStore.accounts) { $0.password = password }.document
        return try transaction.person(of: linked)
    }

    fileprivate func unlink(_ provider: IdentityProvider, from account: AccountDocument) throws -> Person {
        let ways = try transaction.person(of: account).identities.map(\.provider)
        guard ways.contains(provider) else {
            throw CommandFailure(.notFound, "you do not sign in with \(provider.rawValue)")
        }
        guard ways.count > 1 else {
            throw CommandFailure(.conflict, "it is your only way to sign in; add another one first")
        }
        let stored = try transaction.identities(of: account).filter { $0.provider == provider }
        try transaction.delete(stored.map(\.id), from: PeopleStore.identities)
        let left = try transaction.update(account.id, in: PeopleStore.accounts) { account in
            account.touch()
            if provider == .university { account.openID = nil }
            if provider == .password { account.password = nil }
        }.document
        return try transaction.person(of: left)
    }

    /// - Parameter device: The one that stays signed in.
    fileprivate mutating func replacePassword(
        of checked: AccountDocument, with password: PasswordHash, by device: ObjectID
    ) throws -> AccountName {
        let account = try transaction.update(checked.id, in: PeopleStore.accounts) { account in
            guard account.isActive, account.password == checked.password else {
                throw CommandFailure(.unauthenticated, "the account has just been changed")
            }
            account.password = password
        }.document
        try endDevices(of: account, except: device)
        return account.name
    }
}

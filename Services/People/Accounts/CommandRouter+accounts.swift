import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about accounts.
    mutating func serveAccounts(_ people: People) {
        on(AddAccount.self) { command, context in
            // Before the hash, which takes long.
            let password = try await people.hash(command.password)
            let secret = command.invite == true ? Secret.newInvitation(of: command.account) : nil
            return try await people.changes.make(by: context) { change in
                try change.require(.administrator, of: context)
                var account = AccountDocument(
                    name: command.account, role: command.role, password: password, openID: try command.oidc.map(change.openID),
                    created: change.now)
                account.displayName = command.displayName
                account.professor = command.professor == true ? true : nil
                guard let secret else { return try change.add(account) }
                let invitation = InvitationRecord(secret, now: change.now)
                account.invitation = invitation
                return try change.add(account).with(invitation, secret)
            }
        }
        on(GetAccount.self) { command, _ in
            try await people.store.snapshot { transaction in
                let account = try transaction.account(command.account)
                guard account.role.isStaff else { throw CommandFailure(.notFound, "no account \(command.account)") }
                return account.account
            }
        }
        on(FindAccount.self) { command, _ in
            try await people.store.snapshot { try $0.account(command.account).account }
        }
        on(ListAccounts.self) { command, _ in
            try await people.store.snapshot { try command.answer(from: $0) }
        }
        on(ReadDisplayNames.self) { command, _ in
            try await people.store.snapshot { transaction in
                var names: [String: String] = [:]
                for account in command.accounts {
                    names["\(account)"] = try transaction.get(account.key, from: PeopleStore.accounts)?.document.displayName
                }
                return ReadDisplayNames.Reply(displayNames: names)
            }
        }
        on(UpdateAccount.self) { command, context in
            let account = try await people.changes.make(by: context) { change in
                try change.require(
                    command.changesOnlyDisplayName ? .account(command.account) : .administrator, of: context)
                if let oidc = command.oidc {
                    try change.link(command.account, to: oidc.isEmpty ? nil : change.openID(oidc))
                }
                let now = change.now
                return try change.update(command.account, as: UpdateAccount.name) { try command.change(&$0, at: now) }
            }
            people.personChanged(account)
            return account.account
        }
        on(ChangePassword.self) { command, context in
            var checked: AccountDocument?
            if let current = command.currentPassword {
                checked = try await people.passwords.check(
                    current, for: .passwordChange(command.account, caller: context.credential, address: command.address)
                ) { $0 }
            }
            let password = try await people.passwords.hashing.hash(command.password)
            return try await people.changes.make(by: context) { [checked] change in
                try change.require(.account(command.account), of: context)
                return try change.update(command.account, as: ChangePassword.name, endsCredentials: true) { account in
                    // Hashing takes a while, in which a super user may have replaced the password.
                    guard checked == nil || account.password == checked?.password else {
                        throw CommandFailure(
                            .unauthenticated, "current_password: the password has just been changed", field: "current_password")
                    }
                    account.password = password
                    account.invitation = nil
                }.account
            }
        }
        on(RemoveAccount.self) { command, context in
            let isStaff = try await people.changes.make(by: context) { change in
                try change.require(.administrator, of: context)
                guard try change.transaction.account(command.account).role.isStaff else { return false }
                let now = change.now
                let removed = try change.update(command.account, as: RemoveAccount.name, endsCredentials: true) { account in
                    account.removed = now
                    account.password = nil
                    account.secondFactor = nil
                    account.displayName = nil
                    account.professor = nil
                    (account.signedIn, account.openIDSignedIn) = (nil, nil)
                }
                // What its person had in the students' app.
                _ = try change.transaction.forgetDevices(of: removed)
                _ = try change.transaction.forgetSocial(of: removed)
                return true
            }
            // Of the staff the name stays, as the sender of messages. Of a student nothing does.
            if !isStaff { _ = try await people.erasures.begin(command.account, by: context.author) }
            return Done()
        }
        on(ImportAccounts.self) { command, context in
            let (outcomes, changed) = try await people.changes.make(by: context) { change in
                try change.require(.administrator, of: context)
                return try change.importAccounts(command)
            }
            for account in changed { people.personChanged(account) }
            return ImportAccounts.Reply(outcomes: outcomes)
        }
    }
}

extension UpdateAccount {
    /// Changes the account, except its person at the provider.
    ///
    /// - Throws: ``CommandFailure`` with `conflict` if a student would have to set up a second factor, which only the portal can do.
    fileprivate func change(_ account: inout AccountDocument, at now: UnixMilliseconds) throws(CommandFailure) {
        if let role { account.role = role }
        if let professor { account.professor = professor ? true : nil }
        if let disabled {
            account.disabled = disabled
            account.unusedSince = nil
            if !disabled, account.role == .student { account.use(at: now) }
        }
        if let secondFactorRequired {
            guard account.role.isStaff || !secondFactorRequired else {
                throw CommandFailure(
                    .conflict, "\(account.name) is a student's account, which cannot set up a second factor",
                    field: "second_factor_required")
            }
            account.secondFactorRequired = secondFactorRequired
        }
        if let displayName { account.displayName = displayName.isInvisible ? nil : displayName }
    }
}

extension People {
    /// Tells the open apps of a student that the account has changed.
    func personChanged(_ account: AccountDocument) {
        if account.role == .student { personEvents.announce(account.name, .account) }
    }

    fileprivate func hash(_ password: Secret?) async throws -> PasswordHash? {
        guard let password else { return nil }
        return try await passwords.hashing.hash(password)
    }
}

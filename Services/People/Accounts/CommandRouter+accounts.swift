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
                guard let secret else { return try change.add(account) }
                let invitation = InvitationRecord(secret, now: change.now)
                account.invitation = invitation
                return try change.add(account).with(invitation, secret)
            }
        }
        on(GetAccount.self) { command, _ in
            try await people.store.snapshot { try $0.account(command.account).account }
        }
        on(ListAccounts.self) { command, _ in
            let page = try await people.store.page(
                of: PeopleStore.accounts, Query(where: PeopleStore.removed == nil), after: Cursor(after: command.after),
                limit: command.limit)
            return ListAccounts.Reply(accounts: page.documents.map { $0.document.account }, next: page.next?.description)
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
            try await people.changes.make(by: context) { change in
                try change.require(
                    command.changesOnlyDisplayName ? .account(command.account) : .administrator, of: context)
                if let oidc = command.oidc {
                    try change.link(command.account, to: oidc.isEmpty ? nil : change.openID(oidc))
                }
                return try change.update(command.account, as: UpdateAccount.name) { account in
                    if let role = command.role { account.role = role }
                    if let disabled = command.disabled { account.disabled = disabled }
                    if let required = command.secondFactorRequired { account.secondFactorRequired = required }
                    if let name = command.displayName { account.displayName = name.isInvisible ? nil : name }
                }.account
            }
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
            try await people.changes.make(by: context) { change in
                try change.require(.administrator, of: context)
                let now = change.now
                _ = try change.update(command.account, as: RemoveAccount.name, endsCredentials: true) { account in
                    account.removed = now
                    account.password = nil
                    account.secondFactor = nil
                    account.displayName = nil
                    (account.signedIn, account.openIDSignedIn) = (nil, nil)
                }
            }
            return Done()
        }
    }
}

extension People {
    fileprivate func hash(_ password: Secret?) async throws -> PasswordHash? {
        guard let password else { return nil }
        return try await passwords.hashing.hash(password)
    }
}

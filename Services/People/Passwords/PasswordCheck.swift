import Base
import Logging
import Schemas
import ServiceKit
import Store
import Synchronization

/// Checks passwords of accounts, a limited number of times.
final class PasswordCheck: Sendable {
    let hashing: PasswordHashing
    private let store: Storage
    private let audit: DeferredAuditEntries
    private let logger: Logger
    private let limits = Mutex(AttemptLimits())

    /// What a password is for.
    enum Purpose {
        /// Signing in. The account is any text; one that is no account's costs the same work.
        case signIn(account: String, address: String)
        /// Signing in on a device. It is limited as signing in. Also an account that was disabled because nobody used it can.
        case device(account: String, address: String)
        /// Confirming a sign-in.
        case confirmation(AccountName, signIn: CredentialHash, address: String)
        /// Changing the account's own password, by a sign-in. It and the address are `nil` if they are unknown.
        case passwordChange(AccountName, caller: CredentialHash?, address: String?)
        /// Showing the second factor after a sign-in at a provider. Also an account that was disabled because nobody used it can.
        case code(AccountName, address: String)
        /// Using an invitation. Any text; one that names no account has the same answer. It is limited as signing in.
        case invitation(Secret, address: String)
    }

    init(hashing: PasswordHashing, store: Storage, audit: DeferredAuditEntries, logger: Logger) {
        self.hashing = hashing
        self.store = store
        self.audit = audit
        self.logger = logger
    }

    /// Checks a password, then does what it allows. An `unauthenticated` failure of it, such as a wrong code, counts as a wrong
    /// password, unless the code is missing.
    ///
    /// - Parameters:
    ///   - password: `nil` if only the code is checked.
    ///   - isAll: Whether nothing further is asked for. Only then are wrong attempts forgotten, and the address is known.
    /// - Throws: ``CommandFailure`` with `unauthenticated`, or with `overloaded` after too many attempts.
    func check<Value: Sendable>(
        _ password: Secret?, for purpose: Purpose, hasCode: Bool = true, isAll: Bool = true,
        then body: (AccountDocument) async throws -> Value
    ) async throws -> Value {
        let attempt: AttemptLimits.Attempt
        switch limits.withLock({ $0.begin(purpose.limited, now: .now) }) {
        case .attempt(let begun): attempt = begun
        case .wait(let wait):
            throw CommandFailure(
                .overloaded, "too many attempts; try again later", retryAfter: max(1, Milliseconds(wait)))
        }
        var account: AccountDocument?
        do {
            account = try await self.account(purpose.account)
            let caller: PasswordHashing.Caller = attempt.isKnown ? .known : .anyone(purpose.address.flatMap { IPAddress($0) })
            let value = try await body(try await accepted(account, password, purpose, caller))
            limits.withLock { limits in
                if isAll { limits.succeeded(attempt, now: .now) } else { limits.cancelled(attempt) }
            }
            return value
        } catch let failure as CommandFailure where failure.status == .unauthenticated {
            if failure.field == "code", !hasCode {
                limits.withLock { $0.cancelled(attempt) }
            } else {
                report(limits.withLock { $0.failed(attempt, now: .now) }, purpose, account?.name)
            }
            throw failure
        } catch {
            limits.withLock { $0.cancelled(attempt) }
            throw error
        }
    }

    /// The given accounts and addresses have had right passwords.
    func remember(_ known: [AttemptLimits.Purpose: ContinuousClock.Instant]) {
        limits.withLock { limits in
            for (purpose, moment) in known { limits.remember(purpose, at: moment) }
        }
    }

    private func account(_ name: String) async throws -> AccountDocument? {
        guard let name = AccountName(name) else { return nil }
        return try await store.get(name.key, from: PeopleStore.accounts)?.document
    }

    private func accepted(
        _ account: AccountDocument?, _ password: Secret?, _ purpose: Purpose, _ caller: PasswordHashing.Caller
    ) async throws -> AccountDocument {
        if password == nil, let account, purpose.isFor(account) { return account }
        let stored = account.flatMap { purpose.isFor($0) ? $0.password : nil }
        guard let password, try await hashing.matches(stored, password, for: caller), stored != nil, let account else {
            throw purpose.refusal
        }
        return account
    }

    /// Logs limits that have come into force, and notes them in the audit log. A name without an account may be a password that
    /// was typed into the wrong field, so it is not shown. It has no entry, so no answer waits for one.
    private func report(_ reports: [AttemptLimits.Report], _ purpose: Purpose, _ account: AccountName?) {
        for report in reports {
            let account = report.scope == .address ? nil : account
            logger.warning(
                "wrong passwords: further attempts have to wait",
                metadata: [
                    "account": "\(account?.description ?? (report.scope == .address ? "any" : "unknown"))",
                    "address": "\(purpose.address ?? "unknown")", "attempts": "\(report.attempts)",
                ])
            let object: AuditObject
            if let account {
                object = .account(account)
            } else if report.scope == .address, let address = purpose.address {
                object = AuditObject(kind: "address", id: address.customer)
            } else {
                continue
            }
            audit.add(
                AuditEntry(
                    by: AuditAuthor(actor: nil, address: purpose.address), action: "sign_in.limited", object: object,
                    after: ["wrong_passwords": .integer(report.attempts)]))
        }
    }
}

extension PasswordCheck.Purpose {
    fileprivate var account: String {
        switch self {
        case .signIn(let account, _), .device(let account, _): account
        case .confirmation(let account, _, _), .passwordChange(let account, _, _), .code(let account, _): account.description
        case .invitation(let secret, _): secret.invitedAccount
        }
    }

    fileprivate var address: String? {
        switch self {
        case .signIn(_, let address), .device(_, let address), .confirmation(_, _, let address), .code(_, let address),
            .invitation(_, let address):
            address
        case .passwordChange(_, _, let address): address
        }
    }

    /// Whether the account may do it.
    fileprivate func isFor(_ account: AccountDocument) -> Bool {
        switch self {
        case .device, .code: account.isActive || account.isUnused
        case .signIn, .confirmation, .passwordChange, .invitation: account.isActive
        }
    }

    /// As it is limited.
    var limited: AttemptLimits.Purpose {
        switch self {
        case .signIn(let account, let address), .device(let account, let address):
            .signIn(account: account.lowercased(), address: address.customer)
        case .confirmation(let account, let signIn, _): .confirmation(of: signIn.description, account: account.key)
        case .passwordChange(let account, let caller, _):
            .confirmation(of: caller?.description ?? account.key, account: account.key)
        // Another sign-in gives no further attempts.
        case .code(let account, _): .confirmation(of: "code \(account.key)")
        case .invitation(let secret, let address):
            .signIn(account: secret.invitedAccount.lowercased(), address: address.customer)
        }
    }

    /// For a sign-in, a wrong name, a wrong password, and an account that cannot sign in have the same answer.
    fileprivate var refusal: CommandFailure {
        switch self {
        case .signIn, .code: CommandFailure(.unauthenticated, "wrong account name or password")
        case .device: CommandFailure(.unauthenticated, "password: wrong account name or password", field: "password")
        case .invitation: .unusableInvitation
        case .confirmation: CommandFailure(.unauthenticated, "password: wrong password", field: "password")
        case .passwordChange: CommandFailure(.unauthenticated, "current_password: wrong password", field: "current_password")
        }
    }
}

extension String {
    /// A client's address as it is counted: an IPv6 address with its whole /64 network.
    fileprivate var customer: String { IPAddress(self)?.customer.description ?? self }
}

import ArgumentParser
import Schemas
import ServiceKit

/// `msi account`: the accounts of a running product.
struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Adds, lists and changes accounts, while the product runs.",
        discussion: """
            It talks to the people service at MSI_PEOPLE_ENDPOINTS; by default that is the one of MSI_STATE_DIR on this machine. \
            Passwords are typed on the terminal, or are the first line of standard input.

            Exit status: 0 if it is done, 1 if it is refused, 75 if a service does not answer or has too much to do, 78 if a setting is wrong.
            """,
        subcommands: [
            AddAccountCommand.self, ListAccountsCommand.self, ImportAccountsCommand.self, PasswordCommand.self,
            DisableCommand.self, EnableCommand.self, LinkCommand.self, ListDevicesCommand.self, SignOutCommand.self,
            RemoveAccountCommand.self, EraseAccountCommand.self, ErasedAccountsCommand.self, ExportAccountCommand.self,
            TokenCommand.self,
        ])
}

/// A subcommand that talks to the people service.
protocol PeopleCommand: ServiceCommand {}

extension PeopleCommand {
    static var service: ServiceEntry { .people }
}

extension AccountName: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension Role: ExpressibleByArgument {
    public init?(argument: String) {
        guard let role = Role(rawValue: argument), Role.allCases.contains(role) else { return nil }
        self = role
    }

    public static var allValueStrings: [String] { allCases.map(\.rawValue) }
}

/// `msi account add`.
struct AddAccountCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Adds an account.",
        discussion:
            "It asks for the password, unless --invite is given, which prints a link that sets it, or --oidc: such an account signs "
            + "in at the university's provider. A student has no rights in the hub, and signs in to the student's app.")

    @Argument(help: "Its name: \(AccountName.expected).")
    var account: AccountName

    @Option(help: "What it may do.")
    var role = Role.communicator

    @Option(help: "Its identifier (\"sub\") at the OpenID Connect provider, instead of a password.")
    var oidc: String?

    @Option(help: "What people call its person.")
    var displayName: String?

    @Flag(help: "Its person may create classes.")
    var professor = false

    @Flag(help: "Print a link with which its person sets the password, once, within a day.")
    var invite = false

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        let password = oidc == nil && !invite ? try TypedPassword.read(for: account) : nil
        let added = try await people.request(
            AddAccount(
                account: account, password: password, role: role, oidc: oidc, displayName: displayName,
                invite: invite ? true : nil, professor: professor ? true : nil))
        let text = "added \(added.account) as \(added.role.rawValue)"
        guard let link = added.invitation?.linkPath else { return text }
        let access = try GatewayAccess(settings)
        let url = try access.publicURL ?? access.localURL(port: settings.value(.gatewayPort))
        return text + "\nfor its password, once, within a day: \(url)\(link.text)"
    }
}

/// `msi account list`.
struct ListAccountsCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the accounts of the staff, or of a role, or those whose names begin with a text.")

    @Option(help: "Only accounts of this role.")
    var role: Role?

    @Option(help: "Only accounts whose names begin with this text, of any role.")
    var search: String?

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        let accounts = try await people.accounts(role: role, text: search)
        return accounts.isEmpty ? "there is no such account" : accounts.map(\.line).joined(separator: "\n")
    }
}

/// `msi account password`.
struct PasswordCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "password", abstract: "Gives an account a new password. Its sign-ins and tokens end.")

    @Argument(help: "Its name.")
    var account: AccountName

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        let password = try TypedPassword.read(for: account)
        return try await people.noticingOperatorToken(settings, advice: "msi account token") {
            let changed = try await people.request(ChangePassword(account, password: password))
            return "\(changed.account) has a new password; all earlier sign-ins and tokens have ended"
        }
    }
}

/// `msi account disable`.
struct DisableCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Disables an account. Its sign-ins and tokens end.")

    @Argument(help: "Its name.")
    var account: AccountName

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        try await people.noticingOperatorToken(settings) {
            "disabled \(try await people.request(UpdateAccount(account, disabled: true)).account)"
        }
    }
}

/// `msi account enable`.
struct EnableCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Lets a disabled account sign in again.")

    @Argument(help: "Its name.")
    var account: AccountName

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        "enabled \(try await people.request(UpdateAccount(account, disabled: false)).account)"
    }
}

/// `msi account link`.
struct LinkCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Lets a person of the OpenID Connect provider sign in to an account.",
        discussion:
            "The sign-ins and tokens of a person who could do so before end. Without an identifier there is no such person any more."
    )

    @Argument(help: "The account's name.")
    var account: AccountName

    @Argument(help: "The person's identifier (\"sub\") at the provider.")
    var oidc: String?

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        let changed = try await people.request(UpdateAccount(account, oidc: oidc ?? "")).account
        return oidc.map { "\(changed) is \($0) at the provider" } ?? "\(changed) does not sign in at the provider any more"
    }
}

/// `msi account remove`.
struct RemoveAccountCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Removes an account with its sign-ins and tokens. Its name is never used again.")

    @Argument(help: "Its name.")
    var account: AccountName

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        try await people.noticingOperatorToken(settings) {
            _ = try await people.request(RemoveAccount(account))
            return "removed \(account)"
        }
    }
}

/// `msi account token`.
struct TokenCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract:
            "Writes a new operator's token, with all rights, to the file \"token\" in the state directory. The previous one ends."
    )

    @Argument(help: "The super user for whom it acts; by default admin.")
    var account: AccountName?

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        let file = OperatorToken(stateDirectory: try settings.value(.stateDirectory))
        let name = account ?? .admin
        try await file.replace { _ = try await people.request(ReplaceOperatorToken(account: name, tokenHash: $0.hash)) }
        return "a new token of \(name) is in \(file.path)"
    }
}

extension PeopleClient {
    /// All accounts of the staff, or of a role, or whose names begin with a text.
    func accounts(role: Role?, text: String? = nil) async throws(CommandFailure) -> [Account] {
        var accounts: [Account] = []
        var after: String?
        repeat {
            let page = try await request(
                ListAccounts(limit: PeopleLimits.page.upperBound, after: after, role: role, text: text))
            accounts += page.accounts
            after = page.next
        } while after != nil
        return accounts
    }

    /// Makes a change that may end the operator's token, and tells the user if it did. The change is made even if the token file cannot
    /// be read.
    ///
    /// - Parameter advice: The command that makes a new token.
    /// - Returns: The text of the change, and a second line if the token has ended.
    fileprivate func noticingOperatorToken(
        _ settings: SettingValues, advice: String = "msi account token NAME, with the name of a super user",
        _ change: () async throws -> String
    ) async throws -> String {
        let file = OperatorToken(stateDirectory: try settings.value(.stateDirectory))
        let token = try? file.read()
        let wasValid = if let token { try await knows(token.hash) } else { false }
        let text = try await change()
        guard wasValid, let token, try await !knows(token.hash) else { return text }
        return text + "\nthis has ended the operator's token, in the state directory. For a new one: \(advice)"
    }
}

extension AccountName {
    /// The super user of the first start.
    static var admin: AccountName {
        guard let name = AccountName("admin") else { preconditionFailure("a valid name") }
        return name
    }
}

extension Account {
    /// A line of the list, with columns.
    fileprivate var line: String {
        let name = account.description
        let columns = [
            name + String(repeating: " ", count: max(0, 24 - name.count)),
            role.rawValue + String(repeating: " ", count: max(0, 12 - role.rawValue.count)),
            disabled ? "disabled" : "active",
        ]
        let remarks = [
            professor == true ? "professor" : nil, hasPassword ? nil : "no password", oidc.map { "OpenID Connect \($0)" },
            secondFactor == .none ? nil : "second factor \(secondFactor.rawValue)",
        ].compactMap { $0 }
        return (columns + remarks).joined(separator: "  ")
    }
}

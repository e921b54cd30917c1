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

            Exit status: 0 if it is done, 1 if it is refused, 75 if the people service does not answer or has too much to do, 78 if a setting is wrong.
            """,
        subcommands: [
            AddAccountCommand.self, ListAccountsCommand.self, PasswordCommand.self, DisableCommand.self, EnableCommand.self,
            LinkCommand.self, RemoveAccountCommand.self, TokenCommand.self,
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

extension Role: ExpressibleByArgument {}

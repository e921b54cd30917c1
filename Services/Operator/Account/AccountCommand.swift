import ArgumentParser
import CommandBus
import FoundationEssentials
import Glibc
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
protocol PeopleCommand: AsyncParsableCommand {
    /// The exit status if the people service refuses a command.
    static var refused: Int32 { get }

    /// - Returns: The text for the terminal.
    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String
}

extension PeopleCommand {
    static var refused: Int32 { EXIT_FAILURE }

    func run() async throws {
        do {
            let settings = try await SettingValues(
                arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
            let endpoints = try settings.value(.endpoints(of: .people))
            do {
                print(try await PeopleClient.with(endpoints, settings) { try await run($0, settings) })
            } catch let failure as CommandFailure where failure.status == .unavailable || failure.status == .deadlineExceeded {
                throw end(
                    "the people service does not answer at \(endpoints.joined(separator: ", ")): "
                        + "\(failure.message). Is msi up running, with the same MSI_STATE_DIR?", EX_TEMPFAIL)
            } catch let failure as CommandFailure where failure.status == .overloaded {
                throw end("\(failure.message); try again later", EX_TEMPFAIL)
            }
        } catch let error as ConfigurationError {
            throw end("\(error)", EX_CONFIG)
        } catch let failure as CommandFailure {
            throw end(failure.message, Self.refused)
        } catch let failure as UnreadableFile {
            throw end("\(failure)", EX_NOINPUT)
        } catch let error as BusError {
            throw end("\(error)", Self.refused)
        } catch let error where error is StartFailure || error is TypedPassword.Failure {
            throw end("\(error)", EXIT_FAILURE)
        }
    }

    private func end(_ error: String, _ code: Int32) -> ExitCode {
        StandardError.write("msi: \(error)\n")
        return ExitCode(code)
    }
}

extension AccountName: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension Role: ExpressibleByArgument {}

import ArgumentParser
import CommandBus
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit

/// A subcommand that talks to a service.
protocol ServiceCommand: AsyncParsableCommand {
    static var service: ServiceEntry { get }
    /// The exit status if the service refuses a command.
    static var refused: Int32 { get }

    /// - Returns: The text for standard output; empty if there is none.
    func run(_ client: ServiceClient, _ settings: SettingValues) async throws -> String
}

extension ServiceCommand {
    static var refused: Int32 { EXIT_FAILURE }

    func run() async throws {
        let name = "the \(Self.service.title)"
        do {
            let settings = try await SettingValues(
                arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
            let endpoints = try settings.value(.endpoints(of: Self.service))
            do {
                let text = try await ServiceClient.with(endpoints, settings) { try await run($0, settings) }
                if !text.isEmpty { print(text) }
            } catch let failure as CommandFailure where failure.status == .unavailable || failure.status == .deadlineExceeded {
                throw end(
                    "\(name) does not answer at \(endpoints.joined(separator: ", ")): "
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
        } catch let failure as InputFailure {
            throw end("\(failure)", EX_DATAERR)
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

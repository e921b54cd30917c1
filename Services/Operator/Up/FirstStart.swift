import Base
import Schemas
import Synchronization

/// The first start of a stack: it makes the super user `admin` with a random password, and the operator's token.
///
/// A start that is killed at any point can be repeated. The token is in its file before the accounts know it, and the
/// password is shown before it is valid, so that neither is lost.
final class FirstStart: Sendable {
    private let token: OperatorToken
    /// The file with the password, if it is not printed.
    private let passwordFile: String
    private let isTerminal: Bool
    private let say: @Sendable (String) -> Void
    /// Made and shown once, however often the accounts cannot be made yet.
    private let password = Mutex<Secret?>(nil)

    /// - Parameters:
    ///   - isTerminal: Whether a person reads what `say` prints. Otherwise it may be kept in a log, and the password goes to a file.
    ///   - say: Prints a line.
    init(stateDirectory: String, isTerminal: Bool, say: @escaping @Sendable (String) -> Void) {
        token = OperatorToken(stateDirectory: stateDirectory)
        passwordFile = stateDirectory + "/password"
        self.isTerminal = isTerminal
        self.say = say
    }

    /// - Throws: ``CommandFailure``, or ``StartFailure`` if the token's file cannot be read or written.
    func run(_ people: PeopleClient) async throws {
        if try await people.request(ListAccounts(limit: 1)).accounts.isEmpty {
            try await setUp(people)
        } else {
            try await checkToken(people)
        }
    }

    private func setUp(_ people: PeopleClient) async throws {
        let password = try shownPassword()
        switch try token.content() {
        case .missing: try await token.replace()
        case .malformed(let problem):
            say("\(problem); a new token replaces it")
            try await token.replace()
        case .token: break
        }
        guard let secret = try token.read() else { throw StartFailure(description: "\(token.path) contains no token") }
        let command = SetUpPeople(account: .admin, password: password, tokenHash: secret.hash)
        do throws(CommandFailure) {
            _ = try await people.request(command)
        } catch {
            guard error.status == .conflict else { throw error }
            say("another start has made the accounts in the meantime: the password above is not valid")
            try await checkToken(people)
        }
    }

    /// The password, which is shown when it is made.
    private func shownPassword() throws(StartFailure) -> Secret {
        if let password = password.withLock(\.self) { return password }
        let new = Secret.newPassword()
        if !isTerminal {
            do throws(DurableFileFailure) {
                try DurableFiles.replace(passwordFile, new.text + "\n")
            } catch {
                throw StartFailure(description: "\(error)")
            }
        }
        password.withLock { $0 = new }
        say(
            """
            first start: the super user of this installation. \(isTerminal ? "The password is shown only here" : "Remove the password's file after reading it"):
              account   \(AccountName.admin)
              password  \(isTerminal ? new.text : "in the file \(passwordFile)")
              token     in the file \(token.path), with all rights, for scripts on this machine
            """)
        return new
    }

    /// There are accounts: says what to do if the token's file does not belong to them.
    private func checkToken(_ people: PeopleClient) async throws {
        let secret: Secret?
        do {
            secret = try token.read()
        } catch {
            // No service needs the file.
            return say("\(error). For a new token: msi account token")
        }
        guard let secret else {
            return say("there is no token in \(token.path), but there are accounts. For a new one: msi account token")
        }
        guard try await !people.knows(secret.hash) else { return }
        say("the token in \(token.path) is not valid any more. For a new one: msi account token")
    }
}

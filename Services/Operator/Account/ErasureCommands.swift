import ArgumentParser
import Base
import Bus
import FoundationEssentials
import Glibc
import Logging
import Schemas
import ServiceKit

/// `msi account erase`.
struct EraseAccountCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Erases a student: in all services, for ever. The name is never used again.",
        discussion:
            "It asks for the name once more. Without a terminal it erases only with --yes. The devices are signed out at once. It prints what "
            + "was removed and what stays. A service that does not answer is asked until it does; msi account erased shows that.")

    @Argument(help: "The account's name.")
    var account: AccountName

    @Flag(help: "Erase without asking.")
    var yes = false

    func validate() throws {
        guard yes || isatty(STDIN_FILENO) == 1 else {
            throw ValidationError("Nothing was erased: without a terminal nobody can be asked. --yes erases without asking.")
        }
    }

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        if !yes { try confirm() }
        let report = try await people.request(BeginErasure(of: account))
        let first = report.finished == nil ? "\(account) is being erased" : "\(account) is erased"
        return ([first] + report.lines).joined(separator: "\n")
    }

    /// Who types the name means it.
    ///
    /// - Throws: ``StartFailure`` if it is another one, or none.
    private func confirm() throws {
        print("This erases \(account) for ever. Type the name to go on: ", terminator: "")
        fflush(nil)
        let line = readLine() ?? ""
        guard let typed = AccountName(line.filter { !$0.isWhitespace }), typed == account else {
            throw StartFailure(description: "this is not the name; nothing was erased")
        }
    }
}

/// `msi account erased`.
struct ErasedAccountsCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "erased",
        abstract: "Shows how many persons were erased, the erasures that wait for services, and the latest ones, without names.")

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        let erasures = try await people.request(ListErasures())
        let lines = erasures.waiting.map(\.line) + erasures.finished.map(\.line)
        let waiting = erasures.waiting.count == 1 ? "1 waits" : "\(erasures.waiting.count) wait"
        return (["\(erasures.erasedNames) erased, \(waiting) for services"] + lines).joined(separator: "\n")
    }
}

/// `msi account export`.
struct ExportAccountCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes what the services have of a person into a new ZIP file, which only its owner may read.")

    @Argument(help: "The account's name.")
    var account: AccountName

    @Argument(help: "The new file, such as ann.zip.", completion: .file())
    var file: String

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        guard !FileManager.default.fileExists(atPath: file) else {
            throw InputFailure(description: "\(file) exists already; each export needs a new name")
        }
        var logger = Logger(label: "msi")
        // A failure is printed.
        logger.logLevel = .critical
        let bus = try Bus(settings, logger: logger)
        let outcome: Result<[UInt8], any Error>
        do {
            let export = try PersonExport(of: account, bus: bus, settings: settings, logger: logger)
            outcome = .success(try await archive(export, settings))
        } catch {
            outcome = .failure(error)
        }
        await bus.close()
        do {
            // The product's command makes private files.
            try Data(outcome.get()).write(to: URL(filePath: file), options: .withoutOverwriting)
        } catch let error as CocoaError {
            throw InputFailure(description: "\(file) cannot be written: \(error)")
        }
        return "the data of \(account) is in \(file)"
    }

    /// - Throws: As ``ServiceCommand/blaming(_:_:_:)``, for the service whose data is missing.
    private func archive(_ export: PersonExport, _ settings: SettingValues) async throws -> [UInt8] {
        var (zip, export) = (ZIPWriter(at: .now), export)
        let readme = PersonExport.readme(of: account, in: "en")
        var bytes = zip.entry(readme.name, readme.content)
        while let service = export.service {
            let files = try await Self.blaming(service, settings) { try await export.next() }
            for file in files ?? [] { bytes += zip.entry(file.name, file.content) }
        }
        return bytes + zip.end()
    }
}

extension ErasedData {
    /// The words for one, as far as they are known here.
    private static let singulars = [
        "accounts": "account", "devices": "device", "identities": "identity", "used_tokens": "used token",
        "queued_pushes": "queued push", "friendships": "friendship", "push_preferences": "choice of pushes", "pushes": "push",
        "memberships": "membership", "attendances": "attendance", "hosted_sessions": "hosted session", "invites": "invite",
        "posts": "post",
    ]

    /// Such as `1 account` and `2 used tokens`.
    fileprivate var words: String {
        let singular = count == 1 ? Self.singulars[what] : nil
        return "\(count) \(singular ?? what.replacing("_", with: " "))"
    }
}

extension ErasureReport {
    /// What each service has done.
    fileprivate var lines: [String] {
        services.flatMap { service in
            service.removed.filter { $0.count > 0 }.map { "\(service.service): \($0.words) removed" }
                + service.stays.map { "\(service.service): stays: \($0)" }
        } + waiting.map { "\($0): has not answered yet" }
    }

    fileprivate var line: String {
        let state = finished.map { "finished \($0.inUTC)" } ?? "waits for \(waiting.joined(separator: ", "))"
        return "\(id)  begun \(begun.inUTC)  \(state)"
    }
}

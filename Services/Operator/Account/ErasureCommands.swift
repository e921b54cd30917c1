import ArgumentParser
import Base
import Bus
import FoundationEssentials
import Logging
import Schemas
import ServiceKit

/// `msi account erase`.
struct EraseAccountCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Erases a student: in all services, for ever. The name is never used again.",
        discussion:
            "The devices are signed out at once. It prints what was removed and what stays. A service that does not answer is asked until it "
            + "does; msi account erased shows that.")

    @Argument(help: "The account's name.")
    var account: AccountName

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        let report = try await people.request(BeginErasure(of: account))
        let first = report.finished == nil ? "\(account) is being erased" : "\(account) is erased"
        return ([first] + report.lines).joined(separator: "\n")
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
        return (["\(erasures.erasedNames) erased, \(erasures.waiting.count) wait for services"] + lines).joined(separator: "\n")
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
            outcome = .success(try await archive(PersonExport(of: account, bus: bus, settings: settings, logger: logger)))
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

    private func archive(_ export: PersonExport) async throws -> [UInt8] {
        var (zip, export) = (ZIPWriter(at: .now), export)
        let readme = PersonExport.readme(of: account, in: "en")
        var bytes = zip.entry(readme.name, readme.content)
        while let files = try await export.next() {
            for file in files { bytes += zip.entry(file.name, file.content) }
        }
        return bytes + zip.end()
    }
}

extension ErasureReport {
    /// What each service has done.
    fileprivate var lines: [String] {
        services.flatMap { service in
            service.removed.filter { $0.count > 0 }.map { "\(service.service): \($0.count) \($0.what) removed" }
                + service.stays.map { "\(service.service): stays: \($0)" }
        } + waiting.map { "\($0): has not answered yet" }
    }

    fileprivate var line: String {
        let state = finished.map { "finished \($0.inUTC)" } ?? "waits for \(waiting.joined(separator: ", "))"
        return "\(id)  begun \(begun.inUTC)  \(state)"
    }
}

import ArgumentParser
import Base
import Schemas
import ServiceKit

/// `msi account import`.
struct ImportAccountsCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Adds and changes the accounts of students as a list in CSV says.",
        discussion: """
            The list is in UTF-8, with commas or semicolons between cells. It has a header, and a row for each student, who signs in at the \
            university's provider (MSI_OIDC_ISSUER):

              account,oidc,display_name,professor
              ann.lee,248289761001,Ann Lee,
              ben,248289761002,,true

            oidc is the identifier ("sub") at the provider. professor is true, false or empty: whether the person may create classes. Only \
            account and oidc are required. What has no column, or an empty cell, stays as it is. An account that is disabled stays disabled.

            A row is refused if its name or its identifier belongs to another account, or the account is not a student's. Look at the outcome \
            with --dry-run first. An import that was interrupted is completed by importing again.

            With --disable-missing, students who may sign in at the provider and whom the list lacks are disabled, and their devices are \
            signed out. If they are more than a tenth of all such students, nothing is done without --disable-many: the list may be incomplete.

            Exit status:
              0   the accounts are as the list says; with --dry-run: the list can be imported
              1   rows were refused, and the others were done; with --dry-run: rows would be refused
              65  the list is wrong, or lacks too many students; nothing was done
              75  the people service does not answer or has too much to do
              78  a setting is wrong, or there is no university's provider; nothing was done
            """)

    @Argument(help: ArgumentHelp("The list; - for standard input.", valueName: "file"))
    var file: String

    @Flag(name: .customLong("dry-run"), help: "Only show what would come of it.")
    var isDryRun = false

    @Flag(name: .customLong("disable-missing"), help: "Disable the students whom the list lacks.")
    var disablesMissing = false

    @Flag(name: .customLong("disable-many"), help: "Disable them even if they are more than a tenth of all.")
    var disablesMany = false

    /// The maximum size of a list: some 400,000 rows.
    private static let maxBytes = 32 << 20
    /// The greatest part of the students that is disabled without `--disable-many`: one in so many.
    private static let maxMissingShare = 10

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        let list = try read()
        let missing = disablesMissing ? try await missing(in: list, people) : []
        let progress = ProgressLine()
        defer { progress.clear() }
        var outcomes: [ImportOutcome] = []
        for start in stride(from: 0, to: list.rows.count, by: ImportAccounts.maxRows) {
            progress.show("importing", Double(start) / Double(list.rows.count))
            let rows = Array(list.rows[start...].prefix(ImportAccounts.maxRows))
            do throws(CommandFailure) {
                outcomes += try await people.request(ImportAccounts(rows: rows, dryRun: isDryRun)).outcomes
            } catch {
                // What is wrong with a row is in its outcome: this is that there is no provider.
                guard error.status == .conflict, start == 0 else { throw error }
                throw ConfigurationError("\(error.message); nothing was done")
            }
        }
        for (index, student) in missing.enumerated() where !isDryRun {
            progress.show("disabling", Double(index) / Double(missing.count))
            _ = try await people.request(UpdateAccount(student.account, disabled: true))
        }
        progress.clear()
        let report = report(outcomes, missing).joined(separator: "\n")
        guard outcomes.contains(where: { $0.outcome == .refused }) else { return report }
        print(report)
        throw ExitCode.failure
    }

    private func read() throws(InputFailure) -> StudentList {
        do {
            return try StudentList(csv: try InputText.read(file, maxBytes: Self.maxBytes))
        } catch {
            throw InputFailure(description: "\(file): \(error)")
        }
    }

    /// The students whom the list lacks, and who are to be disabled.
    private func missing(in list: StudentList, _ people: PeopleClient) async throws -> [Account] {
        let students = try await people.accounts(role: .student).filter { !$0.disabled && $0.oidc != nil }
        let missing = list.missing(of: students)
        guard disablesMany || missing.count * Self.maxMissingShare <= students.count else {
            throw InputFailure(
                description: "\(file): it lacks \(missing.count) of \(students.count) students who may sign in at the provider, "
                    + "more than a tenth. If they are to be disabled, give --disable-many; nothing was done")
        }
        return missing
    }

    private func report(_ outcomes: [ImportOutcome], _ missing: [Account]) -> [String] {
        let refused = outcomes.filter { $0.outcome == .refused }.map { "refused \($0.account): \($0.reason ?? "")" }
        let leavers = missing.map { "\(isDryRun ? "to be disabled" : "disabled"): \($0.account)" }
        let counts = ImportOutcome.Kind.allCases.map { kind in "\(outcomes.count { $0.outcome == kind }) \(kind.rawValue)" }
        let summary = (counts + (disablesMissing ? ["\(missing.count) disabled"] : [])).joined(separator: ", ")
        return refused + leavers + [isDryRun ? "would be: \(summary)" : summary]
    }
}

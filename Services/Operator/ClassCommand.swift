import ArgumentParser
import Base
import Schemas
import ServiceKit

/// `msi class`: the classes in which students study together.
struct ClassCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "class", abstract: "Lists the classes, and gives one to another professor.",
        discussion: """
            It talks to the study service at MSI_STUDY_ENDPOINTS; by default that is the one of MSI_STATE_DIR on this machine. Professors \
            create classes in the portal, and change and close them there. What is said and done in a class is not shown to operators.

            Exit status: 0 if it is done, 1 if it is refused, 75 if a service does not answer or has too much to do, 78 if a setting is \
            wrong.
            """,
        subcommands: [ListClassesCommand.self, GiveClassCommand.self], defaultSubcommand: ListClassesCommand.self)
}

/// A subcommand that talks to the study service.
protocol StudyCommand: ServiceCommand {}

extension StudyCommand {
    static var service: ServiceEntry { .study }
}

/// `msi class list`.
struct ListClassesCommand: StudyCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the classes with their identification keys, professors and numbers of persons.")

    @Option(help: "Only classes whose identification key or name contains this text, in upper or lower case.")
    var search: String?

    @Flag(name: .customLong("json"), help: "Print a line of JSON for each.")
    var printsJSON = false

    func run(_ study: ServiceClient, _ settings: SettingValues) async throws -> String {
        let classes = try await study.classes().filter { $0.matches(search ?? "") }
        guard !printsJSON else {
            return try classes.map { String(decoding: try JSONCoder.encode($0), as: UTF8.self) }.joined(separator: "\n")
        }
        guard !classes.isEmpty else {
            return search.map { "no class has \"\($0)\" in its identification key or its name" } ?? "there is no class yet"
        }
        return classes.map(\.line).joined(separator: "\n")
    }
}

/// `msi class give`.
struct GiveClassCommand: StudyCommand {
    static let configuration = CommandConfiguration(
        commandName: "give", abstract: "Makes another account the professor of a class.",
        discussion: """
            The account must have the professor's mark, which a super user gives in the portal, or msi account import. The professor until \
            then stays in the class as a teaching assistant. A class whose professor was erased has none until it is given to another one.
            """)

    @Argument(help: "Its identification key, such as CS251-F26, or its id.")
    var name: String

    @Argument(help: "The new professor's account.")
    var account: AccountName

    func run(_ study: ServiceClient, _ settings: SettingValues) async throws -> String {
        // The study service knows no accounts.
        let found = try await Self.asking(.people, settings) { try await $0.request(FindAccount(account)) }
        guard !found.disabled else { throw StartFailure(description: "the account \(found.account) is disabled") }
        guard found.professor == true else {
            throw StartFailure(
                description:
                    "\(found.account) has not the professor's mark; a super user gives it in the portal, or msi account import")
        }
        let entry = try await study.request(GiveClass(try await study.classID(of: name), to: found.account))
        return "\(found.account) is the professor of \(entry.identificationKey) (\(entry.name))"
    }
}

extension ServiceClient {
    /// All classes.
    fileprivate func classes() async throws(CommandFailure) -> [ListAllClasses.Entry] {
        var classes: [ListAllClasses.Entry] = []
        var after: String?
        repeat {
            let page = try await request(ListAllClasses(limit: StudyLimits.page.upperBound, after: after))
            classes += page.classes
            after = page.next
        } while after != nil
        return classes
    }

    /// - Parameter name: An identification key, without regard to case, or an id. A key that looks like an id goes first.
    fileprivate func classID(of name: String) async throws -> ObjectID {
        let named = try await classes().first { $0.identificationKey.lowercased() == name.lowercased() }
        guard let id = named?.id ?? ObjectID(name) else {
            throw StartFailure(description: "there is no class \(name); msi class list shows all")
        }
        return id
    }
}

extension ListAllClasses.Entry {
    fileprivate func matches(_ text: String) -> Bool {
        text.isEmpty || [identificationKey, name].contains { $0.lowercased().contains(text.lowercased()) }
    }

    /// A line of the list, with columns.
    fileprivate var line: String {
        let teacher = professor?.description ?? "no professor"
        let columns = [
            "\(id)", identificationKey.padded(to: 20), teacher.padded(to: 20), counted(members, "person").padded(to: 13),
            closed.map { "closed \($0.inUTC)" }, name,
        ]
        return columns.compactMap { $0 }.joined(separator: "  ").onOneLine(maxLength: 300)
    }
}

extension String {
    /// With spaces behind it, as a column.
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

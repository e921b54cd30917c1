import ArgumentParser
import Base
import Bus
import FoundationEssentials
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Operator

/// `msi class`, with a study service and a people service of the test.
@Suite("msi class", .timeLimit(.minutes(10)))
struct ClassCommandTests {
    private static func entry(_ key: String, _ name: String, _ professor: AccountName?) -> ListAllClasses.Entry {
        ListAllClasses.Entry(
            id: ObjectID(), identificationKey: key, name: name, professor: professor, members: 120, closed: nil)
    }

    private static func account(_ name: AccountName, professor: Bool, disabled: Bool = false) -> Account {
        Account(
            account: name, role: .student, professor: professor ? true : nil, disabled: disabled, secondFactor: .none,
            secondFactorRequired: false, hasPassword: true, oidc: nil, created: 0)
    }

    /// Runs a body with the settings of a folder in which both services answer.
    private func withServices(
        _ classes: [ListAllClasses.Entry], _ accounts: [Account], _ body: (SettingValues) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(
                atPath: folder + "/run", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            var study = CommandRouter()
            study.on(ListAllClasses.self) { command, _ in
                // Pages of one class.
                let place = command.after.flatMap { Int($0) } ?? 0
                let next = place + 1 < classes.count ? "\(place + 1)" : nil
                return ListAllClasses.Reply(classes: Array(classes.dropFirst(place).prefix(1)), next: next)
            }
            study.on(GiveClass.self) { command, context in
                guard let given = classes.first(where: { $0.id == command.id }) else {
                    throw CommandFailure(.notFound, "no class \(command.id)")
                }
                #expect(context.actor?.hasPrefix("cli:") == true)
                return ListAllClasses.Entry(
                    id: given.id, identificationKey: given.identificationKey, name: given.name, professor: command.account,
                    members: given.members, closed: nil)
            }
            var people = CommandRouter()
            people.on(FindAccount.self) { command, _ in
                guard let found = accounts.first(where: { $0.account == command.account }) else {
                    throw CommandFailure(.notFound, "no account \(command.account)")
                }
                return found
            }
            let routers = [("study", study), ("people", people)]
            try await withBus { bus in
                let servers = try routers.map { name, router in
                    try CommandServer(bus: bus, endpoint: "ipc://\(folder)/run/\(name).sock", router: router, logger: quietLogger)
                }
                let running = servers.map { server in Task { try await server.run() } }
                defer { running.forEach { $0.cancel() } }
                let settings = try await SettingValues(
                    arguments: [], environment: ["MSI_STATE_DIR": folder], accepted: [])
                try await body(settings)
            }
        }
    }

    private func list(_ arguments: [String], _ settings: SettingValues) async throws -> [String] {
        let command = try ListClassesCommand.parse(arguments)
        let text = try await ListClassesCommand.asking(.study, settings) { try await command.run($0, settings) }
        return text.split(separator: "\n").map(String.init)
    }

    private func give(_ name: String, _ account: String, _ settings: SettingValues) async throws -> String {
        let command = try GiveClassCommand.parse([name, account])
        return try await GiveClassCommand.asking(.study, settings) { try await command.run($0, settings) }
    }

    @Test("All classes are listed, page by page, or those whose key or name has a text")
    func lists() async throws {
        let lee = try #require(AccountName("prof.lee"))
        let classes = [
            Self.entry("CS251-F26", "Compilers", lee), Self.entry("PH101", "Physics", nil),
            Self.entry("CS100", "Programming", lee),
        ]
        try await withServices(classes, []) { settings in
            let all = try await list([], settings)
            #expect(all.count == 3 && all.allSatisfy { $0.contains("120 persons") })
            #expect(all[0].hasPrefix("\(classes[0].id)  CS251-F26 ") && all[0].hasSuffix("  Compilers"))
            #expect(all[0].contains("prof.lee") && all[1].contains("no professor"))
            #expect(try await list(["--search", "cs"], settings).count == 3)
            #expect(try await list(["--search", "cs1"], settings).map { $0.contains("CS100") } == [true])
            let json = try await list(["--search", "PH101", "--json"], settings).map { try JSONValue(parsing: Array($0.utf8)) }
            #expect(json.map { $0["identification_key"] } == ["PH101"])
            // Who finds nothing is told so; a program gets no line.
            let nothing = try await list(["--search", "bio"], settings)
            #expect(nothing == ["no class has \"bio\" in its identification key or its name"])
            #expect(try await list(["--search", "bio", "--json"], settings).isEmpty)
        }
        try await withServices([], []) { settings in
            let nothing = try await list([], settings)
            #expect(nothing == ["there is no class yet"])
        }
    }

    @Test("A class is given to an account with the professor's mark, by its key or its id, and to nobody else")
    func gives() async throws {
        let (ann, ben, eve) = (
            try #require(AccountName("Ann")), try #require(AccountName("ben")), try #require(AccountName("eve"))
        )
        let entry = Self.entry("CS251-F26", "Compilers", nil)
        let accounts = [
            Self.account(ann, professor: true), Self.account(ben, professor: false),
            Self.account(eve, professor: true, disabled: true),
        ]
        try await withServices([entry], accounts) { settings in
            let byKey = try await give("cs251-f26", "Ann", settings)
            #expect(byKey == "Ann is the professor of CS251-F26 (Compilers)")
            #expect(try await give("\(entry.id)", "Ann", settings) == byKey)
            for (account, reason) in [("ben", "has not the professor's mark"), ("eve", "is disabled")] {
                let failure = await #expect(throws: StartFailure.self) { try await give("CS251-F26", account, settings) }
                #expect(failure?.description.contains(reason) == true, "\(account)")
            }
            let unknown = await #expect(throws: StartFailure.self) { try await give("CS999", "Ann", settings) }
            #expect(unknown?.description.hasPrefix("there is no class CS999") == true)
            let missing = await #expect(throws: CommandFailure.self) { try await give("CS251-F26", "zoe", settings) }
            #expect(missing?.status == .notFound)
        }
    }
}

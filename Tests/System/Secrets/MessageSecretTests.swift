import Base
import FoundationEssentials
import NIOHTTP1
import Schemas
import TestSupport
import Testing

extension SystemTests {
    /// What was read is nowhere at the hub. In level one `TracesTests` and `MessagingRestoreTests` show it of the service's files alone.
    @Suite("Traces of messages")
    struct MessageSecretTests {
        @Test(
            "With the most verbose log, what was read is in no file, log or trace after a minute, and not after the restore of an older backup",
            .timeLimit(.minutes(10)), .atLength, arguments: StoreKind.allCases)
        func removed(kind: StoreKind) async throws {
            try await withTemporaryFolder { folder in
                try await withDatabase(kind, in: folder) { database in
                    let visit = MessageVisit(folder: folder, kind: kind)
                    let settings = SystemTests.noLimits.merging([
                        "MSI_LOG_LEVEL": "trace", "MSI_REGISTRATION": "anyone", "MSI_MESSAGING_POLL": "1",
                    ]) { $1 }
                    let number = try await withStack(in: visit.state, settings: settings.merging(database("one")) { $1 }) {
                        try await visit.read(at: $0, database("one"))
                    }
                    let again = try await msi(
                        ["restore", visit.backup] + (kind == .sqlite ? ["--replace"] : []), in: visit.state, database("two"))
                    #expect(again.exitCode == 0, "\(again.lines)")
                    try await withStack(in: visit.state, settings: settings.merging(database("two")) { $1 }) {
                        try await visit.readAgain(at: $0, upTo: number)
                    }
                    if kind == .mongodb {
                        // The server overwrites in its own time.
                        print("files of the database's server: \(try visit.search.leaks(in: folder + "/mongodb"))")
                    }
                }
            }
        }

        /// - Parameter body: Gets a function that returns the settings for a database of a name.
        private func withDatabase(
            _ kind: StoreKind, in folder: String,
            _ body: (@escaping @Sendable (String) -> [String: String]) async throws -> Void
        ) async throws {
            guard kind == .mongodb else { return try await body { _ in [:] } }
            let server = try await MongoServer.start(in: folder)
            try await perform {
                try await body { ["MSI_DATABASE_URL": server.url(database: $0)] }
            } finally: {
                await server.kill()
            }
        }
    }
}

/// What people write and read, and where it is searched.
private struct MessageVisit: Sendable {
    let folder: String
    let kind: StoreKind
    let search = SecretSearch()

    var state: String { folder + "/state" }
    var backup: String { folder + "/backup" }

    private static let trace = "5cf92f3577b34da6a3ce929d0e0e4737"
    private static let palette = "quinces-ripen-slowly-in-the-cellar-of-the-museum"

    init(folder: String, kind: StoreKind) {
        self.folder = folder
        self.kind = kind
        search.keep("The quince jam is for Saturday's visitors", as: "read: the text")
        for (number, text) in TestPicture.traces(ofPalette: Self.palette).enumerated() {
            search.keep(text, as: "read: the picture, \(number)")
        }
        search.keep("Nobody has looked at this medlar yet", as: "waits: the text")
        search.keep("Somewhere among the rowan trees", as: "status: the text")
    }

    /// The files that a restore has replaced stay in a folder until the operator removes it.
    private func leaks(_ prefix: String) throws -> Set<SecretSearch.Leak> {
        try search.leaks(in: state).filter { $0.secret.hasPrefix(prefix) && !$0.place.hasPrefix("replaced-") }
    }

    /// Waits until texts of a kind are in no file of the hub. A machine that is not busy needs a fifth of the time.
    private func expectGone(_ prefix: String) async throws {
        var left: Set<SecretSearch.Leak> = []
        try await eventually("no trace: \(left)", within: .seconds(60), every: .milliseconds(250)) {
            left = try leaks(prefix)
            return left.isEmpty
        }
    }

    /// Ann writes to Ben, who reads it on one of his two devices, and to Carl, who does not.
    ///
    /// - Returns: The number of the last message that was read.
    func read(at stack: Stack, _ database: [String: String]) async throws -> Int64 {
        let ann = try await TestStudent.register("ann", at: stack.portal)
        let ben = try await TestStudent.register("ben", at: stack.portal)
        let tablet = try await TestStudent.signIn("ben", at: stack.portal)
        let carl = try await TestStudent.register("carl", at: stack.portal)
        try await ann.befriend(ben)
        try await ann.befriend(carl)
        for device in [ben, tablet, carl] { _ = try await device.news() }
        let traced = try await ann.portal.call(
            .POST, "/user/messages", headers: ["traceparent": "00-\(Self.trace)-00f067aa0ba902b7-01"],
            ["to": "ben", "text": .string(search.text(of: "read: the text"))])
        #expect(traced.status == 201, "\(traced)")
        let picture = TestPicture.png(palette: Self.palette)
        let pictured = try await ann.show(ann.uploaded(picture), to: "ben")
        _ = try await ann.write(search.text(of: "waits: the text"), to: "carl")
        _ = try await ann.setStatus(search.text(of: "status: the text"))
        // That the search finds them shows that it works.
        if kind == .sqlite {
            let found = try search.leaks(in: state).filter { $0.place.hasPrefix("messaging.sqlite") }
            for secret in ["read: the text", "read: the picture", "waits: ", "status: "] {
                #expect(found.contains { $0.secret.hasPrefix(secret) }, "\(secret) is not among \(found)")
            }
        }
        let made = try await stack.msi(["backup", backup], database)
        #expect(made.exitCode == 0, "\(made.lines)")

        for device in [ben, tablet] {
            let news = try await device.news()
            #expect(news.messages.count == 2)
            #expect(try await device.call(.GET, "/user/messages/\(pictured.id)/picture").body == picture)
            try await device.confirm(news.after)
        }
        try await ben.read(pictured.id)
        try await expectGone("read: ")
        #expect(try await ben.conversation(with: "ann").messages.isEmpty)
        for arguments in [["trace", Self.trace], ["status"]] {
            let end = try await stack.msi(arguments)
            search.show(Data(end.lines.joined(separator: "\n").utf8), at: "the output of msi \(arguments[0])")
        }
        search.showProcesses()
        search.show(Data(stack.program.lines.joined(separator: "\n").utf8), at: "the output of msi up")
        #expect(search.leaks.isEmpty, "\(search.leaks)")
        let isInBackup = try search.leaks(in: backup).contains { $0.secret == "read: the text" }
        #expect(isInBackup || kind == .mongodb)
        return pictured.number
    }

    /// The restored backup has what was read since. What waited in it is there again, and what somebody has shown is not.
    func readAgain(at stack: Stack, upTo number: Int64) async throws {
        try await stack.healthy()
        try await expectGone("read: ")
        try await expectGone("status: ")
        let ben = try await TestStudent.signIn("ben", at: stack.portal)
        let page = try await ben.conversation(with: "ann")
        #expect(page.messages.isEmpty && page.conversation.removed == number, "\(page)")
        let ann = try await TestStudent.signIn("ann", at: stack.portal)
        let own: ReadOwnStatus.Reply = try await ann.document(.GET, "/user/status")
        #expect(own.status == nil)
        let carl = try await TestStudent.signIn("carl", at: stack.portal)
        #expect(try await carl.news().messages.map(\.text) == [search.text(of: "waits: the text")])

        let erased = try await ann.call(.POST, "/user/erasure", ann.proof(.erasure))
        #expect(erased.status == 200, "\(erased)")
        try await expectGone("")
        #expect(try await carl.call(.GET, "/user/conversations/ann").status == 404)
    }
}

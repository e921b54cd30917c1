import Base
import FoundationEssentials
import Glibc
import NIOHTTP1
import Schemas
import TestSupport
import Testing

extension SystemTests {
    /// The erasure of students, with restores.
    @Suite("Erasure")
    struct ErasureTests {
        private static let bio = "collects stamps of lighthouses"

        @Test(
            "An erased student is in no file, and an older backup brings nobody back: neither here nor, with the log, on a new machine",
            .timeLimit(.minutes(10)), arguments: Level.isAll ? StoreKind.allCases : [.sqlite])
        func restored(kind: StoreKind) async throws {
            try await withDatabases(kind) { database in
                try await withTemporaryFolder { folder in
                    let (state, backup, new) = (folder + "/one", folder + "/backup", folder + "/new")
                    try await withStack(in: state, settings: database("one")) { stack in
                        try await stack.add("ann", "bob")
                        let ann = try await TestStudent.signIn("ann", at: stack.portal)
                        let profile = try await ann.call(
                            .PUT, "/user/profile", ["bio": .string(Self.bio), "visibility": ["bio": "friends"]])
                        #expect(profile.status == 200, "\(profile)")
                        try await expectExport(of: ann, in: folder)
                        let made = try await stack.msi(["backup", backup], database("one"))
                        #expect(made.exitCode == 0, "\(made.lines)")

                        let erased = try await ann.call(.POST, "/user/erasure", ann.proof(.erasure))
                        #expect(erased.status == 200, "\(erased)")
                        // On a busy machine the other services may be asked once more: that is waited for below.
                        #expect(try erased.json["services"]?.elements?.first?["service"] == "people", "\(erased)")
                        #expect(try await ann.call(.GET, "/user").status == 401)
                        try await expectGone("ann", at: stack, count: 1)
                        if kind == .sqlite {
                            let files = try Self.files(in: state, with: Self.bio)
                            #expect(files.isEmpty, "\(files)")
                        }
                    }

                    let settings = database("two")
                    let again = try await msi(
                        ["restore", backup] + (kind == .sqlite ? ["--replace"] : []), in: state, settings)
                    #expect(again.exitCode == 0 && !again.lines.contains { $0.contains("not known here") }, "\(again.lines)")
                    try await withStack(in: state, settings: settings) { stack in
                        try await expectGone("ann", at: stack, count: 1)
                        let bob = try await TestStudent.signIn("bob", at: stack.portal)
                        #expect(try await bob.call(.GET, "/user").status == 200)
                    }

                    try carryToken(from: state, to: new)
                    let moved = try await msi(["restore", backup], in: new, database("three"))
                    #expect(moved.exitCode == 0)
                    #expect(
                        moved.lines.contains { $0.contains("are not known here: copy erasures.log") }, "\(moved.lines)")
                    try FileManager.default.removeItem(atPath: new + "/erasures.log")
                    try FileManager.default.copyItem(atPath: state + "/erasures.log", toPath: new + "/erasures.log")
                    try await withStack(in: new, settings: database("three")) { stack in
                        try await expectGone("ann", at: stack, count: 1)
                    }
                }
            }
        }

        // MARK: Helpers

        /// - Parameter body: Gets a function that returns the settings for a database of a name.
        private func withDatabases(
            _ kind: StoreKind, _ body: (@escaping @Sendable (String) -> [String: String]) async throws -> Void
        ) async throws {
            guard kind == .mongodb else { return try await body { _ in [:] } }
            try await withMongoServer { server in
                try await body { ["MSI_DATABASE_URL": server.url(database: $0)] }
            }
        }

        private func expectExport(of student: TestStudent, in folder: String) async throws {
            let answer = try await student.portal.call(.GET, "/user/export", headers: ["Accept-Language": "ar"])
            #expect(answer.status == 200 && answer["Content-Type"] == "application/zip", "\(answer)")
            let file = folder + "/export.zip"
            try answer.body.write(to: URL(filePath: file))
            let script = """
                import json, sys, zipfile
                archive = zipfile.ZipFile(sys.argv[1])
                assert archive.testzip() is None
                print(*archive.namelist())
                print(json.loads(archive.read("people/profile.json"))[0]["bio"])
                """
            let read = try await runProgram("/usr/bin/python3", ["-c", script, file], environment: [:])
            let names = Set(read.lines.first?.split(separator: " ") ?? [])
            #expect(names.isSuperset(of: ["README.txt", "people/person.json", "message-log/pushes.json"]), "\(read.lines)")
            #expect(read.lines.last == Self.bio && read.exitCode == 0)
        }

        /// The files in a folder that contain a text.
        private static func files(in folder: String, with text: String) throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: folder).filter { path in
                // Sockets have no content.
                FileManager.default.contents(atPath: folder + "/" + path)?.firstRange(of: Data(text.utf8)) != nil
            }
        }
    }
}

extension HarmTests.HarmedProduct {
    /// The erasure of students while services are killed.
    @Suite("Erasure and kills")
    struct KilledErasureTests {
        @Test(
            "Services are killed at each step of erasures: each is finished, and nobody else is harmed", .timeLimit(.minutes(10)))
        func killed() async throws {
            try await expectErasures(in: SharedStack.current)
        }

        @Test("The same with MongoDB", .timeLimit(.minutes(10)), .atLength)
        func killedInMongoDB() async throws {
            try await withMongoServer { server in
                let settings = ["MSI_DATABASE_URL": server.url(database: "one")]
                try await withStack(settings: settings) { try await expectErasures(in: $0) }
            }
        }

        private func expectErasures(in stack: Stack) async throws {
            try await stack.healthy()
            let before = try await stack.erasedPersons
            let names = (0..<(Level.isAll ? 16 : 6)).map { "student-\($0)" }
            try await stack.add("stays")
            for name in names { try await stack.add(name) }
            for (number, name) in names.enumerated() {
                let erasing = Task { try? await stack.portal.call(.POST, "/account/\(name)/erasure") }
                let kill = ContinuousClock.now + .milliseconds(4 * (number / 2))
                try await eventually("the moment of the kill", every: .milliseconds(1)) { ContinuousClock.now > kill }
                try await stack.killAndReplace(["msi-people", "msi-message-log", "msi-study"][number % 3])
                _ = await erasing.value
                // The first one may have had no effect.
                try await eventually("\(name) is being erased") {
                    let again = try await stack.portal.call(.POST, "/account/\(name)/erasure")
                    return [200, 404].contains(again.status)
                }
            }
            try await expectGone(names[0], at: stack, count: before + names.count)
            for name in names { #expect(try await stack.portal.call(.GET, "/account/\(name)").status == 404) }
            let other = try await TestStudent.signIn("stays", at: stack.portal)
            #expect(try await other.call(.GET, "/user").status == 200)
            let audited = try await stack.portal.auditedObjects("person.erase").filter { names.contains($0) }
            #expect(audited.sorted() == names.sorted(), "\(audited)")
            try await stack.healthy()
        }
    }
}

/// Waits until all erasures are finished, and checks that a name is unknown and never given again.
private func expectGone(_ name: String, at stack: Stack, count: Int) async throws {
    try await eventually("erased everywhere", within: .seconds(60)) {
        let erased = try await stack.msi(["account", "erased"])
        return erased.lines.first == "\(count) erased, 0 wait for services"
    }
    #expect(try await stack.portal.call(.GET, "/account/\(name)").status == 404)
    let added = try await stack.portal.call(
        .POST, "/account", ["account": .string(name), "password": .string(TestStudent.password), "role": "student"])
    #expect(added.status == 409, "\(added)")
}

extension Stack {
    /// How many persons were erased so far.
    var erasedPersons: Int {
        get async throws {
            let line = try await msi(["account", "erased"]).lines.first ?? ""
            return try #require(Int(line.prefix { $0.isNumber }), "\(line)")
        }
    }

    /// Adds students.
    fileprivate func add(_ names: String...) async throws {
        for name in names {
            let added = try await portal.call(
                .POST, "/account",
                ["account": .string(name), "password": .string(TestStudent.password), "role": "student"])
            guard added.status == 201 else { throw UnexpectedAnswer(added) }
        }
    }
}

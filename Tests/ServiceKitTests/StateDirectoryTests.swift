import FoundationEssentials
import Glibc
import ServiceKit
import TestSupport
import Testing

/// Access to the state directory.
@Suite("State directory")
struct StateDirectoryTests {
    private func mode(of path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.posixPermissions] as? Int ?? 0
    }

    @Test(
        "A state directory of our own that is open to others is closed to them",
        arguments: [[], ["cube.sqlite", "notes.txt"], ["run"], ["log", "run"]])
    func open(names: [String]) async throws {
        try await withTemporaryFolder { folder in
            for name in names { try Data().write(to: URL(filePath: folder + "/" + name)) }
            for open: mode_t in [0o755, 0o750, 0o701, 0o777] {
                #expect(chmod(folder, open) == 0)
                #expect(try StateDirectory.secure(folder, onlyChecks: true) == nil && mode(of: folder) == Int(open))
                let change = try #require(try StateDirectory.secure(folder))
                #expect(change.contains(folder) && change.contains(String(open, radix: 8)))
                #expect(mode(of: folder) == 0o700)
                #expect(try StateDirectory.secure(folder) == nil)
            }
        }
    }

    @Test("A state directory with foreign files is refused, and keeps its mode")
    func shared() async throws {
        try await withTemporaryFolder { folder in
            try Data().write(to: URL(filePath: folder + "/notes.txt"))
            #expect(try StateDirectory.secure(folder) == nil)
            #expect(chmod(folder, 0o755) == 0)
            // What the start refuses, a check of the configuration finds.
            #expect(throws: ConfigurationError.self) { try StateDirectory.secure(folder, onlyChecks: true) }
            let refusal = #expect(throws: ConfigurationError.self) { try StateDirectory.secure(folder) }
            #expect(refusal?.description.contains("MSI_STATE_DIR: \(folder) holds something else, and its mode 755") == true)
            #expect(mode(of: folder) == 0o755)
        }
    }

    @Test(
        "A state directory of another user is refused, whatever its mode", .enabled(if: geteuid() == 0),
        arguments: [0o700, 0o755])
    func foreign(mode open: mode_t) async throws {
        try await withTemporaryFolder { folder in
            #expect(chown(folder, 65_000, 65_000) == 0 && chmod(folder, open) == 0)
            let refusal = #expect(throws: ConfigurationError.self) { try StateDirectory.secure(folder) }
            #expect(refusal?.description.contains("belongs to the user 65000") == true)
            #expect(mode(of: folder) == Int(open))
        }
    }

    @Test("A path that does not exist, or is not a folder, is not changed")
    func absent() throws {
        #expect(try StateDirectory.secure("/nowhere/at/all") == nil)
        #expect(try StateDirectory.secure("/dev/null") == nil)
    }
}
